package admission

import (
	"testing"

	"pgregory.net/rapid"
)

func TestBitmap_AgreesWithASetOfTickets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := Ticket(rapid.Uint64Range(0, 10).Draw(t, "base") * 64)
		tickets := rapid.SliceOf(rapid.Uint64Range(uint64(base), uint64(base)+500)).Draw(t, "tickets")
		b, set := Bitmap{Base: base}, map[Ticket]bool{}
		for i, n := range tickets {
			if i%5 == 4 {
				b.Clear(Ticket(n))
				delete(set, Ticket(n))
				continue
			}
			b.Set(Ticket(n))
			set[Ticket(n)] = true
		}
		check(t, b, set)
		moved := Ticket(rapid.Uint64Range(0, 20).Draw(t, "moved") * 64)
		for n := range set {
			if n < moved {
				delete(set, n)
			}
		}
		check(t, b.Clone().Rebase(moved), set)
	})
}

func check(t *rapid.T, b Bitmap, set map[Ticket]bool) {
	if b.Count() != len(set) {
		t.Fatalf("Count = %d, want %d", b.Count(), len(set))
	}
	below, next := 0, Ticket(0)
	for n := Ticket(0); n < 2000; n++ {
		if b.Has(n) != set[n] || b.CountBelow(n) != below {
			t.Fatalf("ticket %d: Has %v, CountBelow %d; want %v, %d", n, b.Has(n), b.CountBelow(n), set[n], below)
		}
		if set[n] {
			below++
			if got, ok := b.Next(next); !ok || got != n {
				t.Fatalf("Next(%d) = %d, %v; want %d", next, got, ok, n)
			}
			next = n + 1
		}
	}
	if _, ok := b.Next(next); ok {
		t.Fatalf("Next(%d) finds a ticket beyond the last", next)
	}
}
