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

func TestLoadtest_SaysWhyNothingWouldBeCounted(t *testing.T) {
	app := startApp(t, strings.Replace(loadtestYAML, "UPSTREAM", "127.0.0.1:1", 1))
	for name, tc := range map[string]struct {
		args []string
		code int
		want []string
	}{
		"no such gate": {[]string{app.Edge + "/sale", "--gate", "nowhere"}, exitMisuse,
			[]string{app.Edge + ` has no gate "nowhere"`, "with --gate"}},
		"no admin": {[]string{app.Edge + "/sale", "--gate", "shop", "--admin", "http://127.0.0.1:1"}, exitFailure,
			[]string{"ask --admin http://127.0.0.1:1", "server.admin"}},
		"no edge": {[]string{"http://127.0.0.1:1/sale", "--gate", "shop"}, exitFailure,
			[]string{"ask the edge", "http://127.0.0.1:1/_foyer/health", "--anywhere"}},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := command(t, "", append([]string{"loadtest", "--visitors", "1", "--for", "20s"}, tc.args...)...)
			if exitCode(err) != tc.code || strings.Contains(out, "inversions") {
				t.Fatalf("it ended with %v after\n%s", err, out)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in %v", want, err)
				}
			}
		})
	}
}

func TestLoadtest_DoesNotPassWhereNoVisitCameToItsEnd(t *testing.T) {
	app := startApp(t, strings.Replace(loadtestYAML, "UPSTREAM", "127.0.0.1:1", 1)+"    mode: paused\n")
	out, err := command(t, "", "loadtest", app.Edge+"/sale", "--gate", "shop", "--admin", app.Admin,
		"--visitors", "3", "--rate", "100", "--leavers", "0", "--sleepers", "0", "--copiers", "0", "--for", "2s")
	if exitCode(err) != exitFailure || !strings.Contains(err.Error(), "no visit came to its end: the time of --for was over") {
		t.Errorf("it ended with %v after\n%s", err, out)
	}
}
