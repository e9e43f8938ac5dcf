package e2e

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"foyer/internal/services"
)

// TestScarce_DescriptorsRunOutAndComeBack is G4: with more connections than descriptors foyer lives, and serves again as
// soon as there are some.
func TestScarce_DescriptorsRunOutAndComeBack(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer upstream.Close()
	s := serve(t, movable(upstream.URL, 3, keyOne, ""))
	text, err := exec.Command("prlimit", "--pid", fmt.Sprint(s.cmd.Process.Pid), "--nofile=512:512").CombinedOutput()
	if err != nil {
		t.Fatalf("limit the descriptors: %v: %s", err, text)
	}
	p := newPerson(s.Edge, false)
	p.ask(t, http.MethodGet, "/sale", "").want(t, http.StatusOK)
	address, err := url.Parse(s.Edge)
	if err != nil {
		t.Fatal(err)
	}
	var crowd []net.Conn
	for range 700 {
		conn, err := net.DialTimeout("tcp", address.Host, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, "GET /sale HTTP/1.1\r\n")
		crowd = append(crowd, conn)
	}
	eventually(t, 10*time.Second, "the descriptors run out", func() bool {
		open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid)) // asking foyer itself would need one
		return err == nil && len(open) >= 500
	})
	for _, conn := range crowd {
		_ = conn.Close()
	}
	p.client.Timeout = 10 * time.Second
	p.ask(t, http.MethodGet, "/sale", "").want(t, http.StatusOK)
	if ticket, state := placeOf(t, p); ticket != 1 || state != "admitted" {
		t.Errorf("who was inside has ticket %d now and is %s", ticket, state)
	}
	newPerson(s.Edge, false).ask(t, http.MethodGet, "/sale", "").want(t, http.StatusOK)
}

// TestScarce_AFullRedisStopsJoinsAndNothingElse is G4: whoever is inside or in line goes on.
func TestScarce_AFullRedisStopsJoinsAndNothingElse(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer upstream.Close()
	redis := services.PrivateRedis(t).URL()
	s := serve(t, fmt.Sprintf(redisGate, redis, upstream.URL, 1, "1m"))
	first, second := newPerson(s.Edge, false), newPerson(s.Edge, false)
	arrive(t, first).want(t, http.StatusOK)
	arrive(t, second).want(t, http.StatusTooManyRequests)
	memory := func(limit string) {
		conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(redis, "redis://"), "/0"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "CONFIG SET maxmemory %s\r\n", limit)
		if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || line != "+OK\r\n" {
			t.Fatalf("%q %v", line, err)
		}
	}
	memory("1")
	var got reply
	eventually(t, 10*time.Second, "the store answers in time", func() bool { // a store that is late is another 503
		got = newPerson(s.Edge, false).ask(t, http.MethodGet, "/sale", "").want(t, http.StatusServiceUnavailable)
		return !strings.Contains(got.Text, "urn:foyer:store-unavailable")
	})
	if !strings.Contains(got.Text, "urn:foyer:full") {
		t.Errorf("who comes is told %s", got.Text)
	}
	arrive(t, first).want(t, http.StatusOK)
	arrive(t, second).want(t, http.StatusTooManyRequests)
	insist(t, first, http.MethodPost, "/_foyer/shop/leave").want(t, http.StatusNoContent)
	eventually(t, 10*time.Second, "the next is let in by a full Redis", func() bool {
		return second.ask(t, http.MethodGet, "/sale", "").StatusCode == http.StatusOK
	})
	memory("0")
	eventually(t, 10*time.Second, "joins go on", func() bool {
		return newPerson(s.Edge, false).ask(t, http.MethodGet, "/sale", "").StatusCode == http.StatusTooManyRequests
	})
}
