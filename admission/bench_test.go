package admission

import (
	"context"
	"testing"
	"time"
)

// million is a view of a million waiting on a gate that has given out a hundred million tickets before.
func million() *view {
	const before, many = 100_000_000, 1 << 20
	snap := Snapshot{
		Standing: Standing{Run: "run", Round: "round", Now: time.Now()}, Rules: theRules, EndedAll: true,
		Base: before / 64 * 64, Tail: before/64*64 + many,
	}
	snap.Waiting = Bitmap{Base: snap.Base, Bits: make([]byte, many/8)}
	snap.Ended = Bitmap{Base: snap.Base, Bits: make([]byte, many/8)}
	for i := range snap.Waiting.Bits {
		snap.Waiting.Bits[i] = 0xff
	}
	return newView(nil, snap, flow{})
}

func BenchmarkStatus_AMillionWaiting(b *testing.B) {
	keys, err := NewKeyring(oldKey)
	if err != nil {
		b.Fatal(err)
	}
	r := NewRoom(RoomSettings{Gate: "final", Keys: keys, Rules: theRules})
	v := million()
	r.view.Store(v)
	r.link.state.Store(int32(storeUp))
	r.marks.follow(v.snap.Base, v.snap.Tail)
	now := time.Now()
	token := testToken(now)
	token.Ticket, token.Round, token.Expires = v.snap.Base+500_000, "round", now.Add(time.Hour)
	token.Position = v.position(token.Ticket, 0)
	raw := []string{mustSign(b, r.tokens, token)}
	if got := r.Status(context.Background(), raw); got.Status.Position != token.Position || got.Token != "" {
		b.Fatalf("%+v", got)
	}
	b.ReportAllocs()
	for b.Loop() {
		r.Status(context.Background(), raw)
	}
}

func BenchmarkView_AMillionWaiting(b *testing.B) {
	last := million()
	snap := last.snap
	snap.EndedAll = false
	snap.Ended = Bitmap{Base: snap.Base}
	snap.Ended.Set(snap.Base + 900_000)
	b.ReportAllocs()
	for b.Loop() {
		newView(last, snap, flow{})
	}
}
