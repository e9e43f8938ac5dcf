package proxy

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"foyer/admission"
)

// listenRaw is an upstream that deals with its connections by hand.
func listenRaw(t *testing.T, serve func(net.Conn)) *url.URL {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serve(conn)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return &url.URL{Scheme: "http", Host: l.Addr().String()}
}

// toUpstream has the stand forward to another upstream.
func toUpstream(u *url.URL, timeout time.Duration) func(*Settings) {
	return func(s *Settings) { s.Gates[0].Upstream = Upstream{URL: u, Timeout: timeout} }
}

// D10: whatever the upstream does, the visitor gets an answer of the right kind and keeps the slot.
func TestForward_AnswersForAnUpstreamThatFails(t *testing.T) {
	head := func(conn net.Conn) { _, _ = http.ReadRequest(bufio.NewReader(conn)) }
	say := func(text string) func(net.Conn) {
		return func(conn net.Conn) {
			head(conn)
			_, _ = io.WriteString(conn, text)
		}
	}
	refusing := func(t *testing.T) *url.URL {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return &url.URL{Scheme: "http", Host: l.Addr().String()}
	}
	cases := map[string]struct {
		serve  func(net.Conn)
		status int
		kind   string
	}{
		"refuses":    {nil, 502, "bad-gateway"},
		"hangs":      {func(conn net.Conn) { head(conn); _, _ = conn.Read(make([]byte, 1)) }, 504, "gateway-timeout"},
		"closes":     {head, 502, "bad-gateway"},
		"no http":    {say("SSH-2.0-OpenSSH\r\n\r\n"), 502, "bad-gateway"},
		"bad header": {say("HTTP/1.1 200 OK\r\nbad header\r\n\r\n"), 502, "bad-gateway"},
		"huge head":  {say("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n"), 502, "bad-gateway"},
		"switches":   {say("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"), 502, "bad-gateway"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			target := refusing(t)
			if c.serve != nil {
				target = listenRaw(t, c.serve)
			}
			timeout := time.Minute
			if name == "hangs" {
				timeout = 200 * time.Millisecond
			}
			s := newStand(t, toUpstream(target, timeout))
			for _, accept := range []string{"application/json", "text/html"} {
				res, body := s.do("GET", "/sale", "", "Cookie", "foyer-final=pass", "Accept", accept)
				page := strings.HasPrefix(res.Header.Get("Content-Type"), "text/html")
				if res.StatusCode != c.status || page != (accept == "text/html") || res.Header.Get("Cache-Control") != "no-store" {
					t.Fatalf("got %d %v %s", res.StatusCode, res.Header, body)
				}
				if !page && !strings.Contains(body, "urn:foyer:"+c.kind) {
					t.Errorf("got %s", body)
				}
			}
			if s.room.inside != 0 || len(s.room.released) != 0 {
				t.Errorf("%d in flight, released %v", s.room.inside, s.room.released)
			}
		})
	}
}

func TestForward_CutsAnAnswerThatBreaksOff(t *testing.T) {
	target := listenRaw(t, func(conn net.Conn) {
		_, _ = http.ReadRequest(bufio.NewReader(conn))
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
	})
	s := newStand(t, toUpstream(target, time.Minute))
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.server.URL+"/sale", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Cookie", "foyer-final=pass")
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		_, err = io.ReadAll(res.Body)
		_ = res.Body.Close()
	}
	if err == nil {
		t.Error("half an answer passed for a whole one")
	}
	eventually(t, func() bool { return s.room.flight() == 0 })
}

func TestForward_StreamsALargeAnswer(t *testing.T) {
	const size = 100 << 20
	s := newStand(t, nil)
	s.upstream.answer = func(w http.ResponseWriter, _ *http.Request) {
		block := make([]byte, 1<<20)
		for range size / len(block) {
			_, _ = w.Write(block)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.server.URL+"/sale", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Foyer pass")
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if n, err := io.Copy(io.Discard, res.Body); n != size || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func TestForward_AWebSocketPassesAndEndsWithItsLease(t *testing.T) {
	target := listenRaw(t, func(conn net.Conn) {
		r, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil || r.Header.Get("Upgrade") != "websocket" {
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nFoyer-Command: stock=4\r\n\r\n")
		_, _ = io.Copy(conn, conn)
	})
	s := newStand(t, toUpstream(target, time.Minute))
	s.room.over = make(chan struct{})
	conn, err := net.Dial("tcp", s.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = io.WriteString(conn, "GET /sale/ws HTTP/1.1\r\nHost: shop\r\nCookie: foyer-final=pass\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	reader := bufio.NewReader(conn)
	res, err := http.ReadResponse(reader, nil)
	if err != nil || res.StatusCode != http.StatusSwitchingProtocols || res.Header.Get("Foyer-Command") != "" {
		t.Fatalf("%v %v", res, err)
	}
	_, _ = io.WriteString(conn, "hello")
	got := make([]byte, 5)
	if _, err := io.ReadFull(reader, got); err != nil || string(got) != "hello" {
		t.Fatalf("%q %v", got, err)
	}
	if s.room.flight() != 1 || len(s.room.stock) != 1 {
		t.Errorf("%d in flight, stock %v", s.room.flight(), s.room.stock)
	}
	close(s.room.over)
	if n, err := reader.Read(got); err == nil {
		t.Errorf("read %d bytes after the lease has ended", n)
	}
	eventually(t, func() bool { return s.room.flight() == 0 })
}

func TestForward_EventsPassAsTheyComeAndEndWhenTheServerStops(t *testing.T) {
	s := newStand(t, nil)
	gone := make(chan struct{})
	s.upstream.answer = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: 1\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.server.URL+"/sale/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Cookie", "foyer-final=pass")
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	reader := bufio.NewReader(res.Body)
	if line, err := reader.ReadString('\n'); err != nil || line != "data: 1\n" {
		t.Fatalf("%q %v", line, err)
	}
	s.edge.Drain()
	if rest, err := io.ReadAll(reader); err == nil {
		t.Errorf("the stream ended well: %q", rest)
	}
	<-gone
}

func TestForward_ObeysAndStripsCommands(t *testing.T) {
	s := newStand(t, nil)
	s.upstream.answer = func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Foyer-Command"] = []string{"extend=300, stock=12", "release,nonsense=1"}
		w.Header().Set("Foyer-Token", "forged")
		w.Header().Set("Cache-Control", "public, max-age=60")
		s.room.mu.Lock()
		defer s.room.mu.Unlock()
		if len(s.room.released) != 0 {
			t.Error("released before the answer")
		}
	}
	res, _ := s.do("GET", "/sale", "", "Cookie", "foyer-final=pass")
	for name := range res.Header {
		if strings.HasPrefix(name, "Foyer-") {
			t.Errorf("%s got through: %s", name, res.Header.Get(name))
		}
	}
	if cookie := res.Header.Get("Set-Cookie"); !strings.HasPrefix(cookie, "foyer-final=longer;") {
		t.Errorf("the longer pass was not handed out: %q", cookie)
	}
	if control := res.Header.Get("Cache-Control"); control != "private, no-cache" {
		t.Errorf("an answer with a token says %q to caches", control)
	}
	eventually(t, func() bool {
		s.room.mu.Lock()
		defer s.room.mu.Unlock()
		return fmt.Sprint(s.room.released, s.room.extended, s.room.stock) == "[7] [5m0s] [12]"
	})
}

func TestForward_BusyPassGets503(t *testing.T) {
	s := newStand(t, nil)
	s.room.enter = func(admission.Ticket) (func(), bool) { return nil, false }
	res, body := s.do("GET", "/sale", "", "Cookie", "foyer-final=pass")
	if res.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, "urn:foyer:rate-limited") || res.Header.Get("Retry-After") == "" {
		t.Errorf("got %d %s", res.StatusCode, body)
	}
}

func TestForward_LimitsBodies(t *testing.T) {
	s := newStand(t, func(s *Settings) { s.BodyBytes, s.ReadTimeout = 10, 2*time.Second })
	if res, _ := s.do("POST", "/sale", "0123456789", "Cookie", "foyer-final=pass"); res.StatusCode != http.StatusOK {
		t.Errorf("ten bytes: %d", res.StatusCode)
	}
	if res, _ := s.do("POST", "/sale", "0123456789a", "Cookie", "foyer-final=pass"); res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("eleven bytes: %d", res.StatusCode)
	}
	const start = "POST /sale HTTP/1.1\r\nHost: shop\r\nCookie: foyer-final=pass\r\n"
	if res, body := s.raw(start + "Transfer-Encoding: chunked\r\n\r\nb\r\n0123456789a\r\n0\r\n\r\n"); res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("eleven bytes in chunks: %d %s", res.StatusCode, body)
	}
	if res, body := s.raw(start + "Content-Length: 5\r\n\r\nabc"); res.StatusCode != http.StatusRequestTimeout {
		t.Errorf("a body that stops: %d %s", res.StatusCode, body)
	}
	if s.room.flight() != 0 {
		t.Errorf("%d in flight", s.room.flight())
	}
}

func TestForward_GivesUpOnAnUpstreamThatTakesNoBody(t *testing.T) {
	stop := make(chan struct{})
	target := listenRaw(t, func(conn net.Conn) { <-stop })
	t.Cleanup(func() { close(stop) })
	s := newStand(t, toUpstream(target, 300*time.Millisecond))
	res, body := s.do("POST", "/sale", strings.Repeat("x", 16<<20), "Cookie", "foyer-final=pass")
	if res.StatusCode != http.StatusGatewayTimeout {
		t.Errorf("got %d %s", res.StatusCode, body)
	}
}

func TestForward_ToAHandlerInTheProcess(t *testing.T) {
	seen := make(chan Visit, 1)
	s := newStand(t, func(s *Settings) {
		s.Gates[0].Ungated = []string{"/sale/mine/**"}
		s.Gates[0].Upstream = Upstream{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			v, _ := VisitFrom(r.Context())
			seen <- v
			if r.URL.Path == "/sale/mine/pay" && !v.Admitted {
				if _, ok := v.NeedSlot(w, r); !ok {
					return
				}
			}
			w.Header().Set("Foyer-Command", "release")
			_, _ = io.WriteString(w, r.Header.Get("X-Foyer-Visitor")+r.Header.Get("Cookie"))
		})}
	})
	for _, c := range []struct {
		path, token string
		admitted    bool
		status      int
	}{
		{"/sale", "pass", true, 200}, {"/sale/mine/1", "pass", true, 200}, {"/sale/mine/1", "queue", false, 200},
		{"/sale/mine/1", "", false, 200}, {"/sale/mine/pay", "queue", false, 429}, {"/sale/mine/pay", "pass", true, 200},
	} {
		res, body := s.do("GET", c.path, "", "Cookie", "foyer-final="+c.token)
		if v := <-seen; v.Admitted != c.admitted || res.StatusCode != c.status || (c.token != "") != (v.Visitor != "") {
			t.Errorf("%+v: %+v, %d %s", c, v, res.StatusCode, body)
		}
		if c.status == 200 && (strings.Contains(body, "foyer") || res.Header.Get("Foyer-Command") != "") {
			t.Errorf("%+v: %s %v", c, body, res.Header)
		}
	}
	if s.room.joined != 2 || s.room.flight() != 0 {
		t.Errorf("%d asked for a slot, %d are in flight", s.room.joined, s.room.flight())
	}
}

func TestForward_APanicEndsOneRequest(t *testing.T) {
	s := newStand(t, func(s *Settings) {
		s.Gates[0].Upstream = Upstream{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("no") })}
	})
	res, body := s.do("GET", "/sale", "", "Cookie", "foyer-final=pass")
	var p problem
	if err := json.Unmarshal([]byte(body), &p); err != nil || res.StatusCode != 500 || p.Type != "urn:foyer:internal" {
		t.Errorf("got %d %s", res.StatusCode, body)
	}
	if s.room.flight() != 0 {
		t.Error("the request is still in flight")
	}
}

// eventually waits for a condition, for a few seconds.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatal("it did not happen in time")
		case <-time.After(5 * time.Millisecond):
		}
	}
}
