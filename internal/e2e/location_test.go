package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestEdge_NoAnswerLeadsToAPlaceThatAStrangerNamed asks for what an open redirect would need, at foyer's own endpoints, at
// a gate that lets nobody in and at the embedded shop: no answer is a redirect, and none names the place, in a header or on
// a page.
func TestEdge_NoAnswerLeadsToAPlaceThatAStrangerNamed(t *testing.T) {
	const evil = "evil.example"
	s := serve(t, `
server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0"}
store: {sqlite: ":memory:", state_file: ""}
gates:
  - {name: shut, match: {paths: [/shut/**]}, upstream: origin, capacity: 1, mode: paused}
  - {name: shop, upstream: origin, capacity: 1000}
origin: {events: [{id: final, name: Final, capacity: 10, price: {amount: 100, currency: eur}}]}
`)
	for _, method := range []string{"GET", "HEAD", "POST", "OPTIONS"} {
		for _, target := range []string{
			"//evil.example", "//evil.example/..", "/\\evil.example", "/%2f%2fevil.example", "/%5cevil.example", "/events//evil.example",
			"/events/final//evil.example/..", "/events/evil.example/", "/events/final/", "/api/events/..//evil.example", "/api//holds",
			"/shut//evil.example", "/shut/x?return=https://evil.example", "/shut/x?next=//evil.example", "/?url=https://evil.example/",
			"/_foyer", "/_foyer/", "/_foyer//evil.example", "/_foyer/shut/status?return=//evil.example", "/_foyer/shop/join/",
			"/_foyer/shop/join?return=//evil.example", "/_foyer/shop/leave?return=//evil.example", "*", "/%0d%0aLocation:%20https://evil.example",
		} {
			for _, accept := range []string{"text/html", "*/*"} {
				answer := s.raw(t, method+" "+target+" HTTP/1.1\r\nHost: shop.example\r\nAccept: "+accept+
					"\r\nReferer: https://evil.example/\r\nX-Forwarded-Host: evil.example\r\nX-Forwarded-Prefix: //evil.example\r\n"+
					"X-Original-URL: //evil.example\r\nForwarded: host=evil.example\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
				if answer.StatusCode >= 300 && answer.StatusCode < 400 || answer.StatusCode >= 500 {
					t.Errorf("%s %s as %s answers %d", method, target, accept, answer.StatusCode)
				}
				if said := fmt.Sprint(answer.Header, answer.Text); strings.Contains(said, evil) || answer.Header.Get("Location") != "" {
					t.Errorf("%s %s as %s answers %v %.300s", method, target, accept, answer.Header, answer.Text)
				}
			}
		}
	}
}

// raw sends bytes as they are and reads one answer.
func (s *server) raw(t *testing.T, request string) reply {
	t.Helper()
	conn, err := net.DialTimeout("tcp", strings.TrimPrefix(s.Edge, "http://"), 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	asked := &http.Request{Method: request[:strings.IndexByte(request, ' ')]}
	answer, err := http.ReadResponse(bufio.NewReader(conn), asked)
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	return reply{answer, string(text)}
}
