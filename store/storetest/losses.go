package storetest

import (
	"context"
	"errors"
	"time"

	"foyer/admission"
)

// losses is how a store that is not the one the caller knows refuses.
var losses = map[string]func(*gate){
	"Lost_NothingHasBegun": func(g *gate) {
		_, err := g.Store.Join(g.Context(), admission.Join{ID: "1", N: 1})
		g.wantLost(err)
	},
	"Lost_WhereTheCallerKnowsAnother": func(g *gate) {
		standing := g.begun(nil)
		for name, seen := range map[string]admission.Seen{
			"incarnation": {Run: "another"},
			"step":        {Run: standing.Run, Seq: standing.Seq + 1},
			"clock ahead": {Now: standing.Now.Add(-time.Minute)},
			"clock back":  {Now: standing.Now.Add(time.Minute)},
		} {
			g.Log(name)
			g.refuses(seen)
		}
		if joined := g.joinAs(admission.Join{Seen: admission.Seen{Run: standing.Run, Now: standing.Now.Add(-200 * time.Millisecond)}, ID: "1", N: 1}); joined.First != 1 {
			g.Fatalf("joined %+v: something was done before", joined)
		}
	},
	"Context_EndsAVerb": func(g *gate) {
		g.begun(nil)
		ctx, cancel := context.WithCancel(g.Context())
		cancel()
		if _, err := g.Store.Join(ctx, admission.Join{ID: "1", N: 1}); !errors.Is(err, context.Canceled) {
			g.Fatalf("Join under a cancelled context: %v", err)
		}
	},
}

// refuses wants ErrLost from every verb.
func (g *gate) refuses(seen admission.Seen) {
	g.Helper()
	ctx, store := g.Context(), g.Store
	_, err := store.Join(ctx, admission.Join{Seen: seen, ID: "lost", N: 1})
	g.wantLost(err)
	_, err = store.Sync(ctx, admission.Sync{Seen: seen, Replica: "r1"})
	g.wantLost(err)
	_, err = store.Claim(ctx, seen, 1)
	g.wantLost(err)
	_, err = store.Renew(ctx, seen, 1, time.Now())
	g.wantLost(err)
	_, err = store.Release(ctx, seen, 1)
	g.wantLost(err)
	_, err = store.Reset(ctx, seen, "two")
	g.wantLost(err)
	_, err = store.Configure(ctx, seen, Rules())
	g.wantLost(err)
	_, err = store.Change(ctx, seen, admission.Change{})
	g.wantLost(err)
}

func (g *gate) wantLost(err error) {
	g.Helper()
	if !errors.Is(err, admission.ErrLost) {
		g.Fatalf("error %v, want ErrLost", err)
	}
}
