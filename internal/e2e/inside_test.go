package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// busyShop is a storefront with all that a page of one consists of. An upload and a WebSocket stay open until they are
// told to end.
func busyShop(t *testing.T) (base string, tickets *sync.Map, uploaded *atomic.Int64) {
	tickets, uploaded = &sync.Map{}, &atomic.Int64{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /order", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "seats ", r.FormValue("seats"))
	})
	mux.HandleFunc("PUT /upload", func(_ http.ResponseWriter, r *http.Request) {
		buffer := make([]byte, 64<<10)
		for {
			n, err := r.Body.Read(buffer)
			uploaded.Add(int64(n))
			if err != nil {
				return
			}
		}
	})
	mux.HandleFunc("GET /socket", func(w http.ResponseWriter, _ *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		_, _ = io.Copy(conn, rw)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.Path) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tickets.Store(r.Header.Get("X-Foyer-Ticket"), true)
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, tickets, uploaded
}

// TestInside_EverythingOfAPageIsOneLease is D7.
func TestInside_EverythingOfAPageIsOneLease(t *testing.T) {
	upstream, tickets, uploaded := busyShop(t)
	s := serve(t, movable(upstream, 2, keyOne, ""))
	p := newPerson(s.Edge, true)
	p.ask(t, http.MethodGet, "/sale", "").want(t, http.StatusOK)
	address, err := url.Parse(s.Edge)
	if err != nil {
		t.Fatal(err)
	}
	var cookies []string
	for _, cookie := range p.client.Jar.Cookies(address) {
		cookies = append(cookies, cookie.Name+"="+cookie.Value)
	}

	socket := wireTo(t, s.Edge)
	status, _ := socket.send("GET /socket HTTP/1.1\r\nHost: shop\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nCookie: " + strings.Join(cookies, "; ") + "\r\n\r\n")
	if status != http.StatusSwitchingProtocols {
		t.Fatalf("the WebSocket gets %d", status)
	}
	body, writer := io.Pipe()
	defer writer.Close()
	var asking sync.WaitGroup
	asking.Go(func() {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, s.Edge+"/upload", body)
		if err != nil {
			t.Error(err)
			return
		}
		answer, err := p.client.Do(request)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("the upload ends with %v, %v", answer, err)
			return
		}
		answer.Body.Close()
	})
	const size = 4 << 20
	_, _ = writer.Write(make([]byte, size))
	for i := range 40 {
		asking.Go(func() {
			p.ask(t, http.MethodGet, fmt.Sprintf("/assets/%d.js", i), "").want(t, http.StatusOK)
		})
	}
	asking.Go(func() {
		got := p.ask(t, http.MethodPost, "/order", "seats=2", "Content-Type", "application/x-www-form-urlencoded")
		if got.want(t, http.StatusOK).Text != "seats 2" {
			t.Errorf("the form is answered %q", got.Text)
		}
	})
	eventually(t, 20*time.Second, "the upload is passed on while it is sent", func() bool { return uploaded.Load() == size })
	eventually(t, 10*time.Second, "with all of this open one is inside", func() bool {
		active, waiting := gateOf(t, s)
		return active == 1 && waiting == 0
	})
	fmt.Fprint(socket.conn, "hello\n")
	if line, err := bufio.NewReader(socket.read).ReadString('\n'); err != nil || line != "hello\n" {
		t.Errorf("the WebSocket says %q, %v", line, err)
	}
	_ = writer.Close()
	asking.Wait()
	if active, waiting := gateOf(t, s); active != 1 || waiting != 0 {
		t.Errorf("after all of this %d are inside and %d wait", active, waiting)
	}
	p.ask(t, http.MethodGet, "/sale", "").want(t, http.StatusOK)
	var seen []any
	tickets.Range(func(ticket, _ any) bool { seen = append(seen, ticket); return true })
	if len(seen) != 1 || seen[0] != "1" {
		t.Errorf("the storefront saw the tickets %v", seen)
	}
}

// gateOf is how many a gate has inside and in line, as the admin API says.
func gateOf(t *testing.T, s *server) (active, waiting int) {
	t.Helper()
	var gate struct{ Active, Waiting int }
	answer := newPerson(s.Admin, false).ask(t, http.MethodGet, "/api/gates/shop", "").want(t, http.StatusOK)
	if err := json.Unmarshal([]byte(answer.Text), &gate); err != nil {
		t.Fatalf("read %s: %v", answer.Text, err)
	}
	return gate.Active, gate.Waiting
}
