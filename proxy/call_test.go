package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// overTLS serves an edge by HTTP/2.
func overTLS(t *testing.T, edge *Edge) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(edge)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// callee is an upstream that speaks HTTP/2 without TLS alone, as those of gRPC do inside a network.
func callee(t *testing.T, h http.HandlerFunc) *url.URL {
	t.Helper()
	server := httptest.NewUnstartedServer(h)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// A call is answered while it is still being made, may be silent for longer than a body may, and ends with trailers.
func TestCall_PassesInBothDirectionsWithItsTrailers(t *testing.T) {
	target := callee(t, func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 || r.Header.Get("Te") != "trailers" || r.Header.Get("Traceparent") == "" {
			t.Errorf("the upstream saw %s %v", r.Proto, r.Header)
		}
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Trailer", "Grpc-Status, Foyer-Token")
		lines := bufio.NewScanner(r.Body)
		for lines.Scan() {
			fmt.Fprintf(w, "you said %s\n", lines.Text())
			_ = http.NewResponseController(w).Flush()
		}
		w.Header().Set("Grpc-Status", "0")
		w.Header().Set("Foyer-Token", "forged")
		w.Header().Set(http.TrailerPrefix+"Grpc-Message", "well done")
		w.Header().Set(http.TrailerPrefix+"Foyer-Command", "release")
	})
	s := newStand(t, func(s *Settings) {
		toUpstream(target, time.Minute)(s)
		s.ReadTimeout = 100 * time.Millisecond
	})
	server := overTLS(t, s.edge)
	body, say := io.Pipe()
	r, err := http.NewRequestWithContext(t.Context(), "POST", server.URL+"/sale/shop.Seats/Choose", body)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/grpc+proto", "TE": "trailers", "Authorization": "Foyer pass",
		"Traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	} {
		r.Header.Set(name, value)
	}
	go func() { _, _ = io.WriteString(say, "one\n") }()
	res, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer := bufio.NewReader(res.Body)
	for _, word := range []string{"one", "two", "three"} {
		if word != "one" {
			<-time.After(300 * time.Millisecond) // silence is no reason to end a call
			_, _ = io.WriteString(say, word+"\n")
		}
		if line, err := answer.ReadString('\n'); err != nil || line != "you said "+word+"\n" {
			t.Fatalf("%q %v, status %d", line, err, res.StatusCode)
		}
	}
	if s.room.flight() != 1 {
		t.Errorf("%d in flight", s.room.flight())
	}
	_ = say.Close()
	if _, err := io.ReadAll(answer); err != nil {
		t.Fatal(err)
	}
	if res.Trailer.Get("Grpc-Status") != "0" || res.Trailer.Get("Grpc-Message") != "well done" ||
		res.Trailer.Get("Foyer-Token") != "" || res.Trailer.Get("Foyer-Command") != "" {
		t.Errorf("the trailers are %v", res.Trailer)
	}
	if len(s.room.released) != 0 {
		t.Errorf("a trailer released %v", s.room.released)
	}
}

func TestCall_AWaitingVisitorIsRefusedByAProblem(t *testing.T) {
	target := callee(t, func(http.ResponseWriter, *http.Request) { t.Error("the upstream was called") })
	s := newStand(t, toUpstream(target, time.Minute))
	res, body := s.do("POST", "/sale/shop.Seats/Choose", "x", "Content-Type", "application/grpc", "Authorization", "Foyer queue")
	if res.StatusCode != http.StatusTooManyRequests || !strings.Contains(body, "urn:foyer:waiting") {
		t.Errorf("got %d %s", res.StatusCode, body)
	}
}

// onceAlive is an upstream whose connections break when a second request comes on them, after it has been read.
func onceAlive(t *testing.T, seen *atomic.Int64) *url.URL {
	return listenRaw(t, func(conn net.Conn) {
		reader := bufio.NewReader(conn)
		for i := range 2 {
			r, err := http.ReadRequest(reader)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			seen.Add(1)
			if i == 0 {
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			}
		}
	})
}

func TestForward_RepeatsOnlyWhatIsSafe(t *testing.T) {
	for name, c := range map[string]struct {
		method, body string
		header       string
		status, seen int
	}{
		"a page":                {"GET", "", "X-A", 200, 3},
		"an order":              {"POST", "seats=2", "X-A", 502, 2},
		"an order without body": {"POST", "", "X-A", 502, 2},
		"a replacement":         {"PUT", "x", "X-A", 502, 2},
		"a removal":             {"DELETE", "", "X-A", 502, 2},
		"a key and a body":      {"POST", "seats=2", "Idempotency-Key", 502, 2}, // the body cannot be sent again
	} {
		t.Run(name, func(t *testing.T) {
			var seen atomic.Int64
			s := newStand(t, toUpstream(onceAlive(t, &seen), time.Minute))
			if res, body := s.do("GET", "/sale", "", "Cookie", "foyer-final=pass"); res.StatusCode != http.StatusOK {
				t.Fatalf("the first request: %d %s", res.StatusCode, body)
			}
			res, body := s.do(c.method, "/sale", c.body, "Cookie", "foyer-final=pass", c.header, "1")
			if res.StatusCode != c.status || int(seen.Load()) != c.seen {
				t.Errorf("%d %s, and the upstream saw %d requests", res.StatusCode, body, seen.Load())
			}
		})
	}
}
