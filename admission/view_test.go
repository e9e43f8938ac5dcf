package admission

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestUnion_HoldsWhatEitherHoldsAndChangesNeither(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sets := [2]Bitmap{}
		for i := range sets {
			for _, n := range rapid.SliceOfN(rapid.IntRange(0, 700), 0, 20).Draw(t, "tickets") {
				sets[i].Set(Ticket(n))
			}
		}
		a, b := sets[0].Clone(), sets[1].Clone()
		both := union(a, b)
		for n := range Ticket(800) {
			if both.Has(n) != (sets[0].Has(n) || sets[1].Has(n)) {
				t.Fatalf("ticket %d: %v", n, both.Has(n))
			}
		}
		if !slices.Equal(a.Bits, sets[0].Bits) || !slices.Equal(b.Bits, sets[1].Bits) {
			t.Fatal("one of the two has changed")
		}
	})
}

func TestNewView_KeepsWhatEarlierSnapshotsHaveSaid(t *testing.T) {
	first := Snapshot{Base: 64, EndedAll: true, Ended: Bitmap{Base: 64}, Missed: map[Ticket]int{70: 1, 200: 2}}
	first.Ended.Set(70)
	first.Ended.Set(200)
	v := newView(nil, first, flow{})
	second := Snapshot{Base: 128, Ended: Bitmap{Base: 128}, Missed: map[Ticket]int{201: 1}}
	second.Ended.Set(300)
	next := newView(v, second, flow{})
	if !next.ended.Has(200) || !next.ended.Has(300) || next.ended.Has(70) || next.ended.Base != 128 {
		t.Errorf("ended %+v", next.ended)
	}
	if len(next.missed) != 2 || next.missed[200] != 2 || next.missed[201] != 1 {
		t.Errorf("missed %v", next.missed)
	}
	if !v.ended.Has(70) || len(v.missed) != 2 {
		t.Error("the view before has changed")
	}
	whole := Snapshot{Base: 128, EndedAll: true, Ended: Bitmap{Base: 128}}
	if again := newView(next, whole, flow{}); again.ended.Count() != 0 || len(again.missed) != 0 {
		t.Error("a whole picture is put over the old one instead of replacing it")
	}
}
