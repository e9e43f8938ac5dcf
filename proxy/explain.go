package proxy

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"foyer/admission"
)

// Explanation is what the edge does with a request, and why.
type Explanation struct {
	Verdict  string     // one of Explained…
	Status   int        // of a refusal
	Reason   string     // of a refusal
	Endpoint string     // of own: what is served
	Host     string     // canonical, as gates are matched on it; empty where there is none
	Path     string     // canonical, as gates are matched on it
	Sent     string     // the path as an upstream gets it
	Client   netip.Addr // the visitor's address
	Trusted  bool       // the peer is a trusted proxy, so that its X-Forwarded-* count
	Secure   bool       // the visitor speaks HTTPS
	Gate     string     // that the request belongs to
	By       string     // what of the gate's match holds
	Passed   []Miss     // the gates tried before it
	Bypass   int        // of bypass: which rule, from 1
	Cookie   string     // the name of the gate's cookie
}

// Miss is a gate that a request does not belong to.
type Miss struct{ Gate, Why string }

// The verdicts of an Explanation.
const (
	ExplainedGated       = "gated"       // needs a slot, or joins the line
	ExplainedSpeculative = "speculative" // needs a pass; without one it neither joins nor claims
	ExplainedBypass      = "bypass"      // forwarded, and not counted
	ExplainedUngated     = "ungated"     // the embedded shop says whether a slot is needed
	ExplainedAlways      = "always"      // served before any gate
	ExplainedOwn         = "own"         // an endpoint of the edge itself
	ExplainedRefused     = "refused"     // answered without asking anyone
)

// Explain runs a request, of which nothing but its head is looked at, through the steps of an edge with these settings,
// without a room and without an upstream: it changes nothing and sends nothing. Tokens are not looked at, and gates need
// no Room.
func Explain(s Settings, r *http.Request) (Explanation, error) {
	room := &blank{}
	s.Gates = slices.Clone(s.Gates)
	for i := range s.Gates {
		s.Gates[i].Room = room
	}
	s.Logger, s.Metrics = nil, nil
	e, err := New(s)
	if err != nil {
		return Explanation{}, err
	}
	defer e.Close()
	sink := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	t := e.table.Load()
	for _, g := range t.gates {
		g.upstream = sink
	}
	for i := range t.always {
		t.always[i].Handler = sink
	}
	x := &exchange{r: r, table: t, closing: e.draining}
	x.w = &answer{ResponseWriter: &nobody{header: http.Header{}}, settle: x.settle}
	e.handle(x)
	return x.explain(room.asked), nil
}

// explain reads what the steps have found out; asked is what the room was asked for, if it was.
func (x *exchange) explain(asked string) Explanation {
	found := Explanation{
		Verdict: ExplainedRefused, Host: x.host.Name, Path: x.path.Decoded, Sent: x.path.Escaped,
		Client: x.client.addr, Trusted: x.client.trusted, Secure: x.client.secure, Bypass: x.bypass,
	}
	own, ours := strings.CutPrefix(x.path.Decoded, ownPrefix+"/")
	switch {
	case ours && !slices.Contains([]kind{kindNotFound, kindMethod, kindCrossOrigin}, x.said.kind):
		found.Verdict, found.Endpoint = ExplainedOwn, own
	case asked != "":
		found.Verdict = asked
	case slices.Contains([]string{ExplainedBypass, ExplainedUngated, ExplainedAlways}, x.label):
		found.Verdict = x.label
	default:
		found.Status, found.Reason = x.said.kind.status, cmp.Or(x.said.detail, x.said.kind.title)
	}
	if x.gate != nil {
		found.Gate, found.Cookie = x.gate.Name, x.cookieName()
	}
	if found.Path == "" || ours || found.Verdict == ExplainedAlways {
		return found
	}
	for _, g := range x.table.gates {
		if g == x.gate {
			found.By = g.why(x.host, x.path)
			break
		}
		found.Passed = append(found.Passed, Miss{g.Name, g.miss(x.host)})
	}
	return found
}

// miss says why a request is not the gate's.
func (g *gate) miss(host Host) string {
	if len(g.Match.Hosts) > 0 && g.hostPattern(host) == "" {
		return "another host"
	}
	return "another path"
}

// why says which patterns of the gate match.
func (g *gate) why(host Host, path Path) string {
	by := "any host"
	if pattern := g.hostPattern(host); pattern != "" {
		by = "host " + pattern
	}
	for _, p := range g.paths {
		if p.Matches(path.Decoded) {
			return by + ", path " + p.String()
		}
	}
	if !g.matches(host, path) {
		for _, p := range g.also {
			if p.Matches(path.Decoded) {
				return by + ", path " + p.String() + ", which is no gate's own"
			}
		}
	}
	return by + ", any path"
}

// hostPattern is the pattern that a host matches, empty for none.
func (g *gate) hostPattern(host Host) string {
	for _, pattern := range g.Match.Hosts {
		if hostMatches(pattern, host.Name) {
			return pattern
		}
	}
	return ""
}

// nobody takes an answer that is not sent to anyone.
type nobody struct{ header http.Header }

func (n *nobody) Header() http.Header         { return n.header }
func (n *nobody) WriteHeader(int)             {}
func (n *nobody) Write(b []byte) (int, error) { return len(b), nil }

// blank is a room in which everybody waits. It remembers what it was asked for.
type blank struct{ asked string }

var _ Room = (*blank)(nil)

func (b *blank) Visit(_ context.Context, _ []string, join bool) admission.Verdict {
	b.asked = ExplainedSpeculative
	if join {
		b.asked = ExplainedGated
	}
	return b.wait()
}

func (b *blank) wait() admission.Verdict {
	return admission.Verdict{Outcome: admission.Wait, Status: admission.Status{State: admission.StateWaiting, PollAfter: time.Second}}
}

func (b *blank) Status(context.Context, []string) admission.Verdict       { return b.wait() }
func (b *blank) Join(context.Context, []string) (admission.Verdict, bool) { return b.wait(), true }
func (b *blank) Claim(context.Context, []string) admission.Verdict        { return b.wait() }
func (b *blank) Leave(context.Context, []string) admission.Verdict        { return b.wait() }
func (b *blank) Identify([]string) (admission.Verdict, bool)              { return admission.Verdict{}, false }
func (b *blank) Note([]string)                                            {}
func (b *blank) Enter(context.Context, admission.Ticket) (func(), bool)   { return func() {}, true }
func (b *blank) Over(admission.Ticket) <-chan struct{}                    { return nil }
func (b *blank) Release(context.Context, admission.Ticket) error          { return nil }
func (b *blank) SoldOut(int)                                              {}
func (b *blank) Ready() <-chan struct{}                                   { return nil }
func (b *blank) Extend(context.Context, admission.Ticket, time.Duration) (admission.Verdict, error) {
	return b.wait(), nil
}
