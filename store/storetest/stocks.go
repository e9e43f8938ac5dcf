package storetest

import "foyer/admission"

// stocks is how a line learns whether anything is left to sell.
var stocks = map[string]func(*gate){
	"Stock_EveryReplicaLearnsWhatOneHasHeard": func(g *gate) {
		g.begun(nil)
		g.stock("nothing was said", false)
		g.syncAs(admission.Sync{SoldOut: new(true)})
		g.replica = "r2"
		g.stock("another replica", true)
		g.syncAs(admission.Sync{SoldOut: new(false)})
		g.replica = "r1"
		g.stock("there is something again", false)
	},
	"Stock_IsKeptByARestartAndForgottenByAReset": func(g *gate) {
		g.begun(nil)
		g.syncAs(admission.Sync{SoldOut: new(true)})
		_, err := g.Store.Begin(g.Context(), "two", Rules())
		must(g, 0, err)
		_, err = g.Store.Configure(g.Context(), admission.Seen{}, Rules())
		must(g, 0, err)
		g.stock("the same file again", true)
		_, err = g.Store.Reset(g.Context(), admission.Seen{}, "two")
		must(g, 0, err)
		g.stock("another round", false)
	},
	"Stock_OfTheReplicaThatHasSeenMostIsRestored": func(g *gate) {
		g.begun(nil)
		g.join(3)
		before := g.image(g.sync(3))
		g.release(2)
		g.syncAs(admission.Sync{SoldOut: new(true)})
		after := g.image(g.sync(3))
		for _, order := range [][]admission.Image{{before, after}, {after, before}} {
			g.lost()
			for _, image := range order {
				g.restore(image)
			}
			g.stock("restored", true)
		}
	},
}

func (g *gate) stock(when string, soldOut bool) {
	g.Helper()
	if got := g.sync().SoldOut; got != soldOut {
		g.Fatalf("%s: sold out is %v, want %v", when, got, soldOut)
	}
}
