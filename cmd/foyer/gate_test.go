package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
	"time"
)

// gateCommandYAML is a gate of two in front of the shop, and one that nobody asks for.
const gateCommandYAML = `
server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0"}
store: {sqlite: ":memory:", state_file: ""}
gates:
  - {name: other, match: {paths: [/other]}, upstream: "http://127.0.0.1:1", capacity: 1}
  - {name: shop, upstream: origin, capacity: 2, queue: {poll: {min: 100ms, max: 200ms}}}
origin:
  events:
    - {id: final, name: Final, capacity: 10, price: {amount: 12000, currency: eur}}
`

// browser is a client with a cookie jar at an edge; it answers with the status of a request.
func browser(t *testing.T, edge string) func(method, path string) int {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	return func(method, path string) int {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, edge+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer.StatusCode
	}
}

func TestGate_PauseSetAndResumeReachTheLine(t *testing.T) {
	a := startApp(t, gateCommandYAML)
	room := a.front.rooms.list()[1]
	gate := func(args ...string) string {
		t.Helper()
		out, err := command(t, gateCommandYAML, append(append([]string{"gate"}, args...), "--admin", a.Admin)...)
		if err != nil {
			t.Fatalf("gate %v: %v", args, err)
		}
		return out
	}
	if out := gate("pause", "shop"); !strings.Contains(out, "shop: paused, no rate; 0 of 2 inside") {
		t.Errorf("pause says %s", out)
	}
	until(t, "the gate is paused", func() bool { return room.Info().Mode == "paused" }) // a late tick comes after the answer
	visit := browser(t, a.Edge)
	if status := visit("GET", "/api/events"); status != http.StatusTooManyRequests {
		t.Errorf("a visitor of the paused gate is answered with %d", status)
	}
	if out := gate("set", "shop", "--capacity", "1", "--admit-rate", "600"); !strings.Contains(out, "paused, 600 a minute; 0 of 1 inside") {
		t.Errorf("set says %s", out)
	}
	until(t, "the gate has another capacity and rate", func() bool {
		info := room.Info()
		return info.Capacity == 1 && info.AdmitRate == 600
	})
	var shown gateStatus
	if err := json.Unmarshal([]byte(gate("resume", "shop", "--json")), &shown); err != nil || shown.Mode != "on" || shown.Capacity != 1 || shown.AdmitRate != 600 {
		t.Errorf("resume says %+v, %v", shown, err)
	}
	for deadline := time.Now().Add(20 * time.Second); visit("GET", "/api/events") != http.StatusOK; <-time.After(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the visitor of the gate that goes on is not let in")
		}
	}
	if info := a.front.rooms.list()[0].Info(); info.Mode != "on" || info.Capacity != 1 || info.AdmitRate != 0 {
		t.Errorf("the other gate was changed, too: %+v", info)
	}
}

func TestGateDrain_EndsWhenNobodyIsInside(t *testing.T) {
	a := startApp(t, gateCommandYAML)
	visit := browser(t, a.Edge)
	if status := visit("GET", "/api/events"); status != http.StatusOK {
		t.Fatalf("the first visitor is answered with %d", status)
	}
	room := a.front.rooms.list()[1]
	until(t, "the first visitor is inside", func() bool { return room.Info().Active == 1 }) // a late tick comes after the answer
	drain := func(args ...string) (string, error) {
		return command(t, gateCommandYAML, append([]string{"gate", "drain", "shop", "--admin", a.Admin}, args...)...)
	}
	out, err := drain("--for", "1ms")
	if exitCode(err) != exitFailure || !strings.Contains(err.Error(), "1 are inside") || !strings.Contains(out, "inside 1/2") {
		t.Errorf("with somebody inside: %v\n%s", err, out)
	}
	until(t, "the gate is paused", func() bool { return room.Info().Mode == "paused" })
	if status := browser(t, a.Edge)("GET", "/api/events"); status != http.StatusTooManyRequests {
		t.Errorf("a newcomer at the gate that drains is answered with %d", status)
	}
	ended := make(chan error, 1)
	go func() {
		out, err = drain()
		ended <- err
	}()
	select {
	case err := <-ended:
		t.Fatalf("drained with somebody inside: %v", err)
	case <-time.After(3 * lookEvery / 2):
	}
	if status := visit("POST", "/_foyer/shop/leave"); status != http.StatusNoContent {
		t.Fatalf("leaving is answered with %d", status)
	}
	if err := <-ended; err != nil || !strings.Contains(out, "shop: paused, no rate; 0 of 2 inside, 0 offered") {
		t.Errorf("when the last has gone: %v\n%s", err, out)
	}
}

func TestGateDrain_SaysWhenSomebodyLetsTheGateGoOn(t *testing.T) {
	a := startApp(t, gateCommandYAML)
	browser(t, a.Edge)("GET", "/api/events")
	room := a.front.rooms.list()[1]
	until(t, "the visitor is inside", func() bool { return room.Info().Active == 1 })
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"gate", "drain", "shop", "--admin", a.Admin, "--json"})
	}()
	for room.Info().Mode != "paused" {
		if ctx.Err() != nil {
			t.Fatal("drain does not pause")
		}
		<-time.After(10 * time.Millisecond)
	}
	if err := run(ctx, []string{"gate", "resume", "shop", "--admin", a.Admin}); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; exitCode(err) != exitFailure || !strings.Contains(err.Error(), "its mode is on again") {
		t.Errorf("%v", err)
	}
}

func TestGate_SaysWhatIsWrong(t *testing.T) {
	a := startApp(t, gateCommandYAML)
	for _, tc := range []struct {
		args []string
		want int
		says string
	}{
		{[]string{"pause", "nowhere", "--admin", a.Admin}, exitMisuse, "no such gate"},
		{[]string{"set", "shop", "--admin", a.Admin}, exitMisuse, "nothing to set"},
		{[]string{"set", "shop", "--capacity", "0", "--admin", a.Admin}, exitMisuse, "capacity is a whole number from 1"},
		{[]string{"set", "shop", "--mode", "shut", "--admin", a.Admin}, exitMisuse, "mode is one of"},
		{[]string{"set", "shop", "--capacity", "many"}, exitMisuse, "--capacity takes a whole number"},
		{[]string{"pause"}, exitMisuse, "takes GATE"},
		{[]string{"stop", "shop"}, exitMisuse, "unknown command"},
		{[]string{"pause", "shop", "--admin", "http://127.0.0.1:1"}, exitFailure, "connection refused"},
		{[]string{"drain", "shop", "--admin", "http://127.0.0.1:1"}, exitFailure, "connection refused"},
		{[]string{"pause", "shop", "--admin", "::"}, exitMisuse, "parse"},
	} {
		err := run(t.Context(), append([]string{"gate"}, tc.args...))
		if exitCode(err) != tc.want || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("foyer gate %v: %v, exit code %d; want %d and %q", tc.args, err, exitCode(err), tc.want, tc.says)
		}
	}
}

func TestGate_SendsTheAdminToken(t *testing.T) {
	const token = "a-token-of-sixteen-bytes-or-more"
	a := startApp(t, strings.Replace(gateCommandYAML, `admin: "127.0.0.1:0"`, `admin: "127.0.0.1:0", admin_token: `+token, 1))
	err := run(t.Context(), []string{"gate", "pause", "shop", "--admin", a.Admin})
	if exitCode(err) != exitFailure || !strings.Contains(err.Error(), "FOYER_ADMIN_TOKEN") {
		t.Errorf("without a token: %v", err)
	}
	t.Setenv("FOYER_ADMIN_TOKEN", token)
	if err := run(t.Context(), []string{"gate", "pause", "shop", "--admin", a.Admin}); err != nil {
		t.Errorf("with it: %v", err)
	}
}
