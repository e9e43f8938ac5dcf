package main

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"foyer/config"
)

const takeoverYAML = `
server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0"}
store: {state_file: ""}
gates:
  - {name: other, match: {paths: [/other]}, upstream: "http://127.0.0.1:1", capacity: 1}
  - {name: shop, upstream: "http://127.0.0.1:1", capacity: 1}
`

// reread reads a configuration for an app that runs by another.
func reread(t *testing.T, yaml string) *config.Config {
	t.Helper()
	cfg, report := config.Parse("foyer.yaml", []byte(yaml), os.LookupEnv)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestReload_AGateThatComesBackFindsItsLine(t *testing.T) {
	a := startApp(t, takeoverYAML)
	both := reread(t, takeoverYAML)
	one := reread(t, strings.Replace(takeoverYAML, "  - {name: other, match: {paths: [/other]}, upstream: \"http://127.0.0.1:1\", capacity: 1}\n", "", 1))
	for range 3 {
		answer, err := http.Post(a.Edge+"/_foyer/other/join", "", nil)
		if err != nil || answer.StatusCode != http.StatusCreated {
			t.Fatalf("join: %v, %v", answer, err)
		}
		_ = answer.Body.Close()
	}
	room := a.front.rooms.list()[0]
	if err := a.reload(t.Context(), both, one); err != nil {
		t.Fatal(err)
	}
	if answer, err := http.Get(a.Edge + "/_foyer/other/status"); err != nil || answer.StatusCode != http.StatusNotFound {
		t.Errorf("the gate that was taken out: %v, %v", answer, err)
	}
	set := a.front.rooms
	set.sweep(time.Now())
	if set.open["other"] == nil {
		t.Error("the room stopped while requests may still be on their way")
	}
	set.sweep(time.Now().Add(lingers))
	if set.open["other"] != nil {
		t.Error("the room of a gate that was taken out still runs")
	}

	if err := a.reload(t.Context(), one, both); err != nil {
		t.Fatal(err)
	}
	back := set.list()[0]
	if back.Name != "other" || back.Room == room.Room {
		t.Fatalf("the gate is back as %s, with the room that has stopped", back.Name)
	}
	if info := back.Info(); info.Tail != 3 || info.Active != 1 {
		t.Errorf("it has given out %d tickets and %d are inside, want 3 and 1", info.Tail, info.Active)
	}
}

func TestReload_AGateThatIsBackInTimeKeepsItsRoom(t *testing.T) {
	a := startApp(t, takeoverYAML)
	both := reread(t, takeoverYAML)
	one := reread(t, strings.Replace(takeoverYAML, "name: other, match: {paths: [/other]}", "name: third, match: {paths: [/third]}", 1))
	room := a.front.rooms.list()[0]
	for _, step := range []struct{ from, to *config.Config }{{both, one}, {one, both}} {
		if err := a.reload(t.Context(), step.from, step.to); err != nil {
			t.Fatal(err)
		}
	}
	set := a.front.rooms
	set.sweep(time.Now().Add(lingers))
	if set.list()[0].Room != room.Room || set.open["other"] == nil || set.open["third"] != nil {
		t.Errorf("the room was made anew, or stopped: %v", set.open)
	}
}

func TestReload_WhatFailsChangesNothing(t *testing.T) {
	a := startApp(t, takeoverYAML)
	both := reread(t, takeoverYAML)
	for name, broken := range map[string]string{
		"a template": strings.Replace(takeoverYAML, "name: shop,", "name: shop, page: {template: /none/page.html},", 1),
		"a key":      takeoverYAML + "tokens: {keys: [{id: \"1\", ed25519_file: /none/key.pem}]}\n",
	} {
		before := a.front.rooms.list()
		if err := a.reload(t.Context(), both, reread(t, broken)); err == nil {
			t.Errorf("%s that is not there is taken", name)
		}
		if after := a.front.rooms.list(); &after[0] != &before[0] {
			t.Errorf("%s: the gates have changed", name)
		}
	}
}
