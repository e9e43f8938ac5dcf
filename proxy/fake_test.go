package proxy

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"foyer/admission"
)

// fakeRoom is a Room of functions; one that is nil does what the simplest room would, in which the token "pass" is
// inside, "queue" waits, and everybody else joins as a waiting visitor.
type fakeRoom struct {
	visit    func(tokens []string, join bool) admission.Verdict
	status   func(tokens []string) admission.Verdict
	claim    func(tokens []string) admission.Verdict
	enter    func(admission.Ticket) (func(), bool)
	mu       sync.Mutex
	joined   int
	noted    [][]string
	released []admission.Ticket
	extended []time.Duration
	stock    []int
	inside   int
	over     chan struct{}
}

var _ Room = (*fakeRoom)(nil)

func admitted() admission.Verdict {
	return admission.Verdict{Outcome: admission.Admit, Visitor: "visitor-1", Ticket: 7,
		Status: admission.Status{State: admission.StateAdmitted, Ticket: 7, PollAfter: 2 * time.Second}}
}

func waiting() admission.Verdict {
	return admission.Verdict{Outcome: admission.Wait, Visitor: "visitor-2", Ticket: 1042, Status: admission.Status{
		State: admission.StateWaiting, Ticket: 1042, Position: 317, Waiting: 5210, PollAfter: 4720 * time.Millisecond,
		Eta:  &admission.Eta{Low: 95 * time.Second, High: 160 * time.Second},
		AsOf: time.Date(2026, 11, 29, 15, 4, 5, 123e6, time.UTC),
	}}
}

func refused(r admission.Refusal, s admission.State) admission.Verdict {
	return admission.Verdict{Outcome: admission.Refuse, Refusal: r, Status: admission.Status{State: s}}
}

func (f *fakeRoom) judge(tokens []string, join bool) admission.Verdict {
	for _, token := range tokens {
		switch token {
		case "pass":
			return admitted()
		case "queue":
			return waiting()
		}
	}
	if !join {
		return refused(admission.RefusedNoTicket, "")
	}
	v := waiting()
	v.Token, v.Until = "fresh", time.Now().Add(time.Hour)
	return v
}

func (f *fakeRoom) Visit(_ context.Context, tokens []string, join bool) admission.Verdict {
	f.mu.Lock()
	if join {
		f.joined++
	}
	f.mu.Unlock()
	if f.visit != nil {
		return f.visit(tokens, join)
	}
	return f.judge(tokens, join)
}

func (f *fakeRoom) Status(_ context.Context, tokens []string) admission.Verdict {
	if f.status != nil {
		return f.status(tokens)
	}
	return f.judge(tokens, false)
}

func (f *fakeRoom) Join(ctx context.Context, tokens []string) (admission.Verdict, bool) {
	v := f.Visit(ctx, tokens, true)
	return v, v.Token != ""
}

func (f *fakeRoom) Claim(_ context.Context, tokens []string) admission.Verdict {
	if f.claim != nil {
		return f.claim(tokens)
	}
	return f.judge(tokens, false)
}

func (f *fakeRoom) Leave(context.Context, []string) admission.Verdict {
	return admission.Verdict{Outcome: admission.Refuse, Clear: true}
}

func (f *fakeRoom) Identify(tokens []string) (admission.Verdict, bool) {
	v := f.judge(tokens, false)
	return v, v.Refusal != admission.RefusedNoTicket
}

func (f *fakeRoom) Note(tokens []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.noted = append(f.noted, tokens)
}

func (f *fakeRoom) Enter(_ context.Context, t admission.Ticket) (func(), bool) {
	if f.enter != nil {
		return f.enter(t)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inside++
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.inside--
	}, true
}

// flight is how many requests are in flight.
func (f *fakeRoom) flight() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.inside
}

func (f *fakeRoom) Over(admission.Ticket) <-chan struct{} { return f.over }

func (f *fakeRoom) Extend(_ context.Context, _ admission.Ticket, d time.Duration) (admission.Verdict, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.extended = append(f.extended, d)
	v := admitted()
	v.Token = "longer"
	return v, nil
}

func (f *fakeRoom) Release(_ context.Context, t admission.Ticket) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.released = append(f.released, t)
	return nil
}

func (f *fakeRoom) SoldOut(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stock = append(f.stock, n)
}

func (f *fakeRoom) Ready() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// upstreamLog is an upstream that remembers what it was sent.
type upstreamLog struct {
	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
	answer   func(w http.ResponseWriter, r *http.Request)
}

func (u *upstreamLog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	u.mu.Lock()
	u.requests, u.bodies = append(u.requests, r), append(u.bodies, string(body))
	u.mu.Unlock()
	if u.answer != nil {
		u.answer(w, r)
		return
	}
	_, _ = io.WriteString(w, "shop")
}

func (u *upstreamLog) count() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.requests)
}

func (u *upstreamLog) last() *http.Request {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.requests) == 0 {
		return nil
	}
	return u.requests[len(u.requests)-1]
}

// stand is an edge with one gate, in front of an upstream that is reached over a real connection.
type stand struct {
	*testing.T
	room     *fakeRoom
	upstream *upstreamLog
	edge     *Edge
	server   *httptest.Server
}

// newStand builds one; change may alter the settings before.
func newStand(t *testing.T, change func(*Settings)) *stand {
	t.Helper()
	s := &stand{T: t, room: &fakeRoom{}, upstream: &upstreamLog{}}
	shop := httptest.NewServer(s.upstream)
	t.Cleanup(shop.Close)
	target, err := url.Parse(shop.URL)
	if err != nil {
		t.Fatal(err)
	}
	settings := Settings{Gates: []Gate{{
		Name: "final", Room: s.room, Match: Match{Paths: []string{"/sale/**", "/sale"}},
		Upstream: Upstream{URL: target, Timeout: 5 * time.Second, PreserveHost: true}, Page: Page{Title: "The Final"},
	}}}
	if change != nil {
		change(&settings)
	}
	if s.edge, err = New(settings); err != nil {
		t.Fatal(err)
	}
	s.server = httptest.NewUnstartedServer(s.edge)
	s.server.Listener = strictListener{Listener: s.server.Listener}
	s.server.Start()
	t.Cleanup(func() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		s.server.Close()
		s.edge.Close()
	})
	return s
}

// do sends a request; headers are name, value, name, value …
func (s *stand) do(method, path, body string, headers ...string) (*http.Response, string) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.server.URL+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		s.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.Fatal(err)
	}
	return res, string(text)
}

// raw sends bytes as they are and reads one answer.
func (s *stand) raw(request string) (*http.Response, string) {
	s.Helper()
	conn, err := net.Dial("tcp", s.server.Listener.Addr().String())
	if err != nil {
		s.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.WriteString(conn, request); err != nil {
		s.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		s.Fatalf("%q: %v", request, err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return res, string(text)
}
