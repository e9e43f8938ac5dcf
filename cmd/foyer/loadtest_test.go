package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"foyer/loadtest"
)

const loadtestYAML = `
server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0"}
store: {state_file: ""}
tokens: {leeway: 250ms, keys: [{id: one, secret: "0123456789abcdef0123456789abcdef"}]}
gates:
  - name: shop
    upstream: http://UPSTREAM
    capacity: 5
    session: {idle: 1s, claim: 1s}
    queue: {poll: {min: 150ms, max: 500ms}}
`

func TestLoadtest_CountsAtItsOwnUpstream(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	upstream := listener.Addr().String()
	_ = listener.Close() // the load test listens there
	app := startApp(t, strings.Replace(loadtestYAML, "UPSTREAM", upstream, 1))
	out, err := command(t, "", "loadtest", app.Edge+"/sale", "--gate", "shop", "--upstream", upstream, "--admin", app.Admin,
		"--visitors", "60", "--rate", "60", "--leavers", "0.3", "--sleepers", "0.2", "--sleep", "1s", "--copiers", "0.3",
		"--stay", "200ms", "--pages", "2", "--idle", "1s", "--for", "60s", "--json")
	if err != nil {
		t.Fatal(err, out)
	}
	var found loadtest.Findings
	if err := json.Unmarshal([]byte(out[strings.LastIndex(out, "\n{")+1:]), &found); err != nil {
		t.Fatal(err, out)
	}
	ended := found.Ends[loadtest.Looked] + found.Ends[loadtest.Vanished]
	if found.Guests != 60 || ended != 60 || found.Peak < 2 || found.Peak > 5 || found.Slots.Capacity != 5 || found.Slots.Sampled == 0 {
		t.Errorf("%+v", found)
	}
}

func TestLoadtest_RefusesWhatIsNotMeant(t *testing.T) {
	for _, args := range [][]string{
		{"ftp://127.0.0.1"}, {"shop"}, {"http://127.0.0.1/a", "http://127.0.0.1/b"}, {"http://127.0.0.1", "--visitors", "0"}, {"http://127.0.0.1", "--buyers", "1"},
	} {
		if _, err := command(t, "", append([]string{"loadtest"}, args...)...); !errors.As(err, new(misuse)) {
			t.Errorf("%v: %v", args, err)
		}
	}
	s := loadtestSettings{visitors: 1, rate: 1, most: 1e9}
	err := runLoadtest(t.Context(), []string{"http://192.0.2.1"}, s, io.Discard, io.Discard)
	if err == nil || !strings.Contains(fmt.Sprint(err), "not a loopback address") {
		t.Errorf("beyond this machine: %v", err)
	}
}
