package admission

import (
	"testing"

	"pgregory.net/rapid"
)

func TestRank_CountsAsTheBitmapDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := Bitmap{Base: Ticket(rapid.IntRange(0, 3).Draw(t, "base") * 64)}
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 3000), 0, 300).Draw(t, "tickets") {
			set.Set(set.Base + Ticket(n))
		}
		rank := NewRank(set)
		if rank.Len() != set.Count() {
			t.Fatalf("Len = %d, want %d", rank.Len(), set.Count())
		}
		for n := range Ticket(3300) {
			if got, want := rank.Below(n), set.CountBelow(n); got != want {
				t.Fatalf("Below(%d) = %d, want %d", n, got, want)
			}
		}
	})
}

func TestRank_ZeroIsEmpty(t *testing.T) {
	if r := (Rank{}); r.Len() != 0 || r.Below(5) != 0 {
		t.Errorf("Len %d, Below(5) %d", r.Len(), r.Below(5))
	}
}

func BenchmarkRank_Million(b *testing.B) {
	set := Bitmap{Bits: make([]byte, 1<<20/8)}
	for i := range set.Bits {
		set.Bits[i] = byte(i)
	}
	b.Run("build", func(b *testing.B) {
		for b.Loop() {
			NewRank(set)
		}
	})
	rank := NewRank(set)
	b.Run("look up", func(b *testing.B) {
		for i := Ticket(0); b.Loop(); i += 7919 {
			rank.Below(i % (1 << 20))
		}
	})
}
