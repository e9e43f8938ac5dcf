package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"foyer/admission"
	"foyer/proxy"
	"foyer/store/memstore"
)

var (
	_ proxy.Room     = (*admission.Room)(nil)
	_ proxy.Operated = (*admission.Room)(nil)
)

// sale is an edge with real rooms over one store, in front of a shop.
type sale struct {
	*testing.T
	url      string
	room     *admission.Room
	mu       sync.Mutex
	inside   map[string]int // requests in flight by visitor
	peak     int            // most visitors with a request in flight at once
	requests atomic.Int64
	work     time.Duration // how long the shop takes
}

// openSale opens one with so many slots, near polls of 100 ms and claims of 20 s.
func openSale(t *testing.T, capacity int, mode admission.Mode) *sale {
	t.Helper()
	s := &sale{T: t, inside: map[string]int{}}
	keys, err := admission.NewKeyring(admission.Key{ID: "a", Secret: bytes.Repeat([]byte("a"), admission.MinSecret)})
	if err != nil {
		t.Fatal(err)
	}
	s.room = admission.NewRoom(admission.RoomSettings{
		Gate: "sale", Store: memstore.New(memstore.Settings{Gate: "sale"}), Keys: keys, Inflight: 8,
		Rules: admission.Rules{
			Capacity: capacity, Mode: mode, Idle: time.Minute, Max: 10 * time.Minute, Claim: 20 * time.Second, QueueMax: 1000,
			Keep: time.Hour, Returns: 2, PollMin: 100 * time.Millisecond, PollMax: time.Second, Leeway: 200 * time.Millisecond,
		},
	})
	shop := httptest.NewServer(s)
	target, err := url.Parse(shop.URL)
	if err != nil {
		t.Fatal(err)
	}
	edge, err := proxy.New(proxy.Settings{Gates: []proxy.Gate{{
		Name: "sale", Room: s.room, Match: proxy.Match{Paths: []string{"/sale/**"}}, Upstream: proxy.Upstream{URL: target},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(edge)
	s.url = server.URL
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = s.room.Run(ctx) })
	<-s.room.Ready()
	t.Cleanup(func() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		server.Close()
		edge.Close()
		shop.Close()
		cancel()
		running.Wait()
	})
	return s
}

// ServeHTTP is the shop: it counts who is inside, and lets buyers go at /sale/done.
func (s *sale) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	visitor := r.Header.Get("X-Foyer-Visitor")
	s.mu.Lock()
	s.inside[visitor]++
	s.peak = max(s.peak, len(s.inside))
	s.mu.Unlock()
	time.Sleep(s.work)
	s.mu.Lock()
	if s.inside[visitor]--; s.inside[visitor] == 0 {
		delete(s.inside, visitor)
	}
	s.mu.Unlock()
	if r.URL.Path == "/sale/done" {
		w.Header().Set("Foyer-Command", "release")
	}
	_, _ = io.WriteString(w, "shop")
}

// browser is a visitor with a cookie jar.
type browser struct {
	s      *sale
	client http.Client
}

func (s *sale) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.Fatal(err)
	}
	return &browser{s: s, client: http.Client{Jar: jar}}
}

// ask sends a request, and gives the status and what the body says of the visitor.
func (b *browser) ask(method, path string, headers ...string) (int, position) {
	r, err := http.NewRequestWithContext(b.s.Context(), method, b.s.url+path, nil)
	if err != nil {
		b.s.Error(err)
		return 0, position{}
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := b.client.Do(r)
	if err != nil {
		b.s.Error(err)
		return 0, position{}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		b.s.Error(err)
	}
	var p struct {
		position
		Queue position `json:"queue"`
	}
	if strings.Contains(res.Header.Get("Content-Type"), "json") && json.Unmarshal(body, &p) != nil {
		b.s.Errorf("not JSON: %s", body)
	}
	if p.Queue.State != "" {
		return res.StatusCode, p.Queue
	}
	return res.StatusCode, p.position
}

// until asks again and again, as often as it is told in milliseconds, until it has come about.
func (s *sale) until(what string, ask func() (done bool, again int)) {
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	for {
		done, again := ask()
		if done {
			return
		}
		select {
		case <-ctx.Done():
			s.Errorf("not in time: %s", what)
			return
		case <-time.After(time.Duration(again) * time.Millisecond):
		}
	}
}

// position is what a status object says.
type position struct {
	State    string `json:"state"`
	Ticket   uint64 `json:"ticket"`
	Position int    `json:"position"`
	Poll     int    `json:"poll_after_ms"`
}

func TestEdge_NeverLetsMoreThanKIn(t *testing.T) {
	const capacity, visitors = 3, 30
	s := openSale(t, capacity, admission.ModeOn)
	s.work = 5 * time.Millisecond
	var wg sync.WaitGroup
	for range visitors {
		wg.Go(func() {
			b := s.browser()
			s.until("a buyer was let in", func() (bool, int) {
				if _, at := b.ask("GET", "/_foyer/sale/status"); at.State == "waiting" {
					return false, at.Poll
				}
				code, at := b.ask("GET", "/sale/seats")
				return code == http.StatusOK, at.Poll
			})
			for range 3 {
				if code, _ := b.ask("GET", "/sale/basket"); code != http.StatusOK {
					t.Errorf("a buyer inside got %d", code)
				}
			}
			if code, _ := b.ask("POST", "/sale/done"); code != http.StatusOK {
				t.Errorf("a buyer who paid got %d", code)
			}
		})
	}
	wg.Wait()
	if s.peak > capacity || s.requests.Load() != visitors*5 {
		t.Errorf("%d inside at once, %d requests", s.peak, s.requests.Load())
	}
}

func TestEdge_AVisitorsPlaceSurvivesReloads(t *testing.T) {
	s := openSale(t, 1, admission.ModeOn)
	inside := s.browser()
	if code, _ := inside.ask("GET", "/sale"); code != http.StatusOK {
		t.Fatalf("the first visitor got %d", code)
	}
	b := s.browser()
	_, first := b.ask("GET", "/sale")
	for i := range 20 {
		method, path := "GET", "/sale/"+strconv.Itoa(i)
		if i%4 == 1 {
			method, path = "POST", "/_foyer/sale/join"
		}
		if code, at := b.ask(method, path); at.Ticket != first.Ticket || at.Position != 1 || code == http.StatusCreated {
			t.Fatalf("request %d: %d %+v, first %+v", i, code, at, first)
		}
	}
	s.until("two tickets were given", func() (bool, int) { return s.room.Info().Tail == 2, 10 })
	if code, at := b.ask("POST", "/_foyer/sale/claim"); code != http.StatusConflict || at.State != "waiting" {
		t.Errorf("a claim without an offer: %d %+v", code, at)
	}
	if code, _ := inside.ask("POST", "/_foyer/sale/leave"); code != http.StatusNoContent {
		t.Errorf("leaving: %d", code)
	}
	s.until("the slot was offered", func() (bool, int) {
		_, at := b.ask("GET", "/_foyer/sale/status")
		return at.State == "offered", at.Poll
	})
	if code, _ := b.ask("GET", "/sale", "Sec-Purpose", "prefetch"); code != http.StatusTooManyRequests {
		t.Errorf("a prefetch claimed the offer: %d", code)
	}
	if code, at := b.ask("POST", "/_foyer/sale/claim"); code != http.StatusOK || at.State != "admitted" {
		t.Errorf("the claim: %d %+v", code, at)
	}
	if code, _ := b.ask("OPTIONS", "/sale"); code != http.StatusOK {
		t.Errorf("a preflight with a pass: %d", code)
	}
}

func TestEdge_ModesOffAndShadowForwardEverything(t *testing.T) {
	for _, mode := range []admission.Mode{admission.ModeOff, admission.ModeShadow} {
		s := openSale(t, 1, mode)
		for i := range 3 {
			b := s.browser()
			for _, method := range []string{"OPTIONS", "GET", "POST", "OPTIONS"} {
				if code, at := b.ask(method, "/sale"); code != http.StatusOK {
					t.Errorf("mode %s, visitor %d, %s: %d %+v", mode, i, method, code, at)
				}
			}
		}
	}
}

// D1: no token of whatever kind opens a gate, or breaks it.
func TestEdge_JunkTokensAreNewVisitors(t *testing.T) {
	s := openSale(t, 1, admission.ModeOn)
	first := s.browser()
	first.ask("GET", "/sale")
	for _, junk := range []string{"x", "..", "a.b.c", strings.Repeat("x", 20<<10), "eyJhbGciOiJub25lIn0.e30.", "%00"} {
		for _, path := range []string{"/sale", "/_foyer/sale/status", "/_foyer/sale/claim", "/_foyer/sale/leave", "/_foyer/sale/join"} {
			method := "GET"
			if strings.HasPrefix(path, "/_foyer") && !strings.HasSuffix(path, "status") {
				method = "POST"
			}
			code, _ := s.browser().ask(method, path, "Cookie", "foyer-sale="+junk)
			want := map[string]int{"/sale": 429, "/_foyer/sale/leave": 204, "/_foyer/sale/join": 201}[path]
			if want == 0 {
				want = http.StatusUnauthorized
			}
			if code != want {
				t.Errorf("%.20s at %s: %d, want %d", junk, path, code, want)
			}
		}
	}
}
