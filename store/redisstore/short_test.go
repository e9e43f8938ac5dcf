package redisstore

import (
	"context"
	"crypto/rand"
	"testing"

	"github.com/redis/go-redis/v9"

	"foyer/admission"
	"foyer/internal/services"
	"foyer/store/storetest"
)

// TestStore_KeepsBitmapsAsShortAsTheLine walks with thousands in line: after no Sync is a bitmap longer than from base to
// tail, nor is anything left of what a script needs only while it runs.
func TestStore_KeepsBitmapsAsShortAsTheLine(t *testing.T) {
	client := patient(t, services.PrivateRedis(t).URL())
	short := &short{T: t, client: client}
	stores := storetest.Stores{"redis": func(t *testing.T) storetest.Gate {
		gate := openWith(t, client, rand.Text())
		short.Store = gate.Store.(*Store)
		gate.Store = short
		return gate
	}}
	for seed := range uint64(6) {
		if broken := storetest.Walk(t, stores, seed*storetest.WideEvery, 300); broken != "" {
			t.Fatal(broken)
		}
	}
	if short.longest < 500 {
		t.Errorf("the longest bitmap had %d bytes: no line was long", short.longest)
	}
}

// short is a store whose keys are looked at after each Sync.
type short struct {
	*testing.T
	*Store
	client  *redis.Client
	longest int64
}

func (s *short) Sync(ctx context.Context, sync admission.Sync) (admission.Snapshot, error) {
	snapshot, err := s.Store.Sync(ctx, sync)
	if err != nil {
		return snapshot, err
	}
	for _, name := range []string{"near", "near_last", "far", "far_last", "kept", "kept_last", "ended", "held", "t1", "t2"} {
		length, err := s.client.StrLen(ctx, s.keys.gate+name).Result()
		if err != nil {
			s.Fatal(err)
		}
		line := int64(snapshot.Tail+1-snapshot.Base+7) / 8
		if length > line || length > 0 && (name == "t1" || name == "t2") {
			s.Fatalf("%s has %d bytes; the line, from %d to %d, %d", name, length, snapshot.Base, snapshot.Tail, line)
		}
		s.longest = max(s.longest, length)
	}
	return snapshot, nil
}
