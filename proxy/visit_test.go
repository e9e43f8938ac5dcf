package proxy

import (
	"io"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"foyer/admission"
)

// A gate that lets everybody through does not look at tokens; who shows one is known all the same, and so is whom a
// trusted proxy names there, and nowhere else.
func TestVisit_NamesTheVisitorOfAnOpenGate(t *testing.T) {
	open := func([]string, bool) admission.Verdict {
		return admission.Verdict{Outcome: admission.Admit, Status: admission.Status{State: admission.StateAdmitted}}
	}
	for _, c := range []struct {
		name, token, header, want string
		open, trusted             bool
	}{
		{"nobody", "", "", "", true, true},
		{"a token", "pass", "", "visitor-1", true, false},
		{"a trusted proxy", "", "v9", "v9", true, true},
		{"a token before a trusted proxy", "queue", "v9", "visitor-2", true, true},
		{"an untrusted peer", "", "v9", "", true, false},
		{"a trusted proxy at a gate that asks for tokens", "", "v9", "", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStand(t, func(s *Settings) {
				if c.trusted {
					s.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
				}
				s.Gates[0].Ungated = []string{"/sale/mine/**"}
				s.Gates[0].Upstream = Upstream{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					v, _ := VisitFrom(r.Context())
					_, _ = io.WriteString(w, v.Visitor+"|"+r.Header.Get("X-Foyer-Visitor"))
				})}
			})
			if c.open {
				s.room.visit = open
			}
			for _, path := range []string{"/sale/mine/1", "/sale"} {
				if path == "/sale" && !c.open {
					continue
				}
				headers := []string{"Cookie", "foyer-final=" + c.token}
				if c.header != "" {
					headers = append(headers, "X-Foyer-Visitor", c.header)
				}
				if res, body := s.do("GET", path, "", headers...); res.StatusCode != http.StatusOK || body != c.want+"|"+c.want {
					t.Errorf("%s: %d %q", path, res.StatusCode, body)
				}
			}
		})
	}
}

// Whoever is let in by NeedSlot is known from then on, and his slot can be given up after the answer.
func TestVisit_IsOfWhomNeedSlotHasLetIn(t *testing.T) {
	visits := make(chan Visit, 2)
	s := newStand(t, func(s *Settings) {
		s.Gates[0].Ungated = []string{"/sale/mine/**"}
		s.Gates[0].Upstream = Upstream{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			v, _ := VisitFrom(r.Context())
			now, _ := v.NeedSlot(w, r)
			visits <- v
			visits <- now
		})}
	})
	s.room.visit = func([]string, bool) admission.Verdict {
		v := admitted()
		v.Token, v.Until = "fresh", time.Now().Add(time.Hour)
		return v
	}
	s.do("POST", "/sale/mine/1", "")
	before, now := <-visits, <-visits
	if before.Visitor != "" || before.Admitted || before.Release != nil {
		t.Errorf("before: %+v", before)
	}
	if now.Visitor != "visitor-1" || now.Ticket != 7 || !now.Admitted || now.Release == nil {
		t.Fatalf("now: %+v", now)
	}
	if err := now.Release(t.Context()); err != nil || len(s.room.released) != 1 || s.room.released[0] != 7 {
		t.Errorf("released %v: %v", s.room.released, err)
	}
}
