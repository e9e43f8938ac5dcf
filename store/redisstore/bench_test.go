package redisstore

import (
	"fmt"
	"testing"
	"time"

	"foyer/admission"
	"foyer/internal/services"
	"foyer/store/storetest"
)

// BenchmarkSync is a tick with a million waiting on a gate that has given out 100 million tickets before, without and
// with 50 offers. It reports the server's time of one script and the bytes per visitor in Redis.
func BenchmarkSync(b *testing.B) {
	for name, offers := range map[string]int{"offers=0": 0, "offers=50": 50} {
		b.Run(name, func(b *testing.B) { benchmarkSync(b, offers) })
	}
}

func benchmarkSync(b *testing.B, offers int) {
	server := services.PrivateRedis(b)
	client, err := Dial(server.URL())
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	store, ctx := New(Settings{Client: client, Gate: "final"}), b.Context()
	rules := storetest.Rules()
	rules.QueueMax, rules.Capacity, rules.Mode = 2_000_000, 50, admission.ModePaused
	rules.Keep, rules.PollMax, rules.Claim = 2*time.Hour, 30*time.Second, time.Hour
	if _, err := store.Begin(ctx, "one", rules); err != nil {
		b.Fatal(err)
	}
	base := admission.Ticket(100_000_000) / 64 * 64
	if err := client.HSet(ctx, store.keys.gate+"meta", "tail", uint64(base), "base", uint64(base)).Err(); err != nil {
		b.Fatal(err)
	}
	before := memory(b, store)
	if _, err := store.Join(ctx, admission.Join{ID: "1", N: 1_000_000, Family: admission.Far}); err != nil {
		b.Fatal(err)
	}
	polled := admission.Bitmap{Base: base} // a tick's share of a million that poll every 30 s
	for i := range admission.Ticket(3_333) {
		polled.Set(base + 1 + i*300)
	}
	if offers > 0 {
		rules.Mode = admission.ModeOn
		if _, err := store.Configure(ctx, admission.Seen{}, rules); err != nil {
			b.Fatal(err)
		}
	}
	if err := client.ConfigResetStat(ctx).Err(); err != nil {
		b.Fatal(err)
	}
	var seen admission.Snapshot
	for b.Loop() {
		if seen, err = store.Sync(ctx, admission.Sync{Replica: "r1", Far: polled, Since: seen.Seq}); err != nil {
			b.Fatal(err)
		}
		if offers > 0 {
			b.StopTimer()
			for _, slot := range seen.Slots {
				client.HDel(ctx, store.keys.gate+"slots", decimal(uint64(slot.Ticket)))
				client.ZRem(ctx, store.keys.gate+"ends", decimal(uint64(slot.Ticket)))
			}
			b.StartTimer()
		}
	}
	info, err := client.InfoMap(ctx, "commandstats").Result()
	if err != nil {
		b.Fatal(err)
	}
	var calls, micros, each float64
	if _, err := fmt.Sscanf(info["Commandstats"]["cmdstat_evalsha"], "calls=%f,usec=%f,usec_per_call=%f", &calls, &micros, &each); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(each, "redis-µs/op")
	b.ReportMetric(float64(seen.Waiting.Count()), "waiting")
	b.ReportMetric(float64(memory(b, store)-before)/1e6, "B/visitor")
}

// memory is what the server uses for the gate, bytes.
func memory(b *testing.B, store *Store) (n int64) {
	for _, key := range store.keys.all {
		size, err := store.client.MemoryUsage(b.Context(), key).Result()
		if err == nil {
			n += size
		}
	}
	return n
}
