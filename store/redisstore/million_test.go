package redisstore

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"foyer/admission"
	"foyer/internal/services"
	"foyer/store/storetest"
)

// crowded is a paused gate that has given out 100 million tickets before, with so many waiting, and one replica.
type crowded struct {
	*testing.B
	store *Store
	room  *admission.Room
	heap  int64 // of this process, before the replica began
}

func newCrowded(b *testing.B, waiting int) *crowded {
	client, err := Dial(services.PrivateRedis(b).URL())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { client.Close() })
	c := &crowded{B: b, store: New(Settings{Client: client, Gate: "final"})}
	rules := storetest.Rules()
	rules.QueueMax, rules.Mode, rules.Keep, rules.PollMax = 2_000_000, admission.ModePaused, 2*time.Hour, 30*time.Second
	if _, err := c.store.Begin(b.Context(), "one", rules); err != nil {
		b.Fatal(err)
	}
	base := uint64(100_000_000) / 64 * 64
	if err := client.HSet(b.Context(), c.store.keys.gate+"meta", "tail", base, "base", base).Err(); err != nil {
		b.Fatal(err)
	}
	if waiting > 0 {
		if _, err := c.store.Join(b.Context(), admission.Join{ID: "1", N: waiting, Family: admission.Far}); err != nil {
			b.Fatal(err)
		}
	}
	keys, err := admission.NewKeyring(admission.Key{ID: "a", Secret: bytes.Repeat([]byte("a"), admission.MinSecret)})
	if err != nil {
		b.Fatal(err)
	}
	c.heap = heap()
	c.room = admission.NewRoom(admission.RoomSettings{Gate: "final", Keys: keys, Rules: rules, Store: c.store, Inflight: 32})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = c.room.Run(ctx) }()
	b.Cleanup(func() { stop(); <-ended })
	<-c.room.Ready()
	return c
}

// BenchmarkMillion_Tick is a replica that ticks, with nobody, ten thousand and a million in line: Redis commands a second,
// CPU of the replica and of Redis a tick, and bytes for each who waits.
func BenchmarkMillion_Tick(b *testing.B) {
	for _, waiting := range []int{0, 10_000, 1_000_000} {
		b.Run(fmt.Sprint("waiting=", waiting), func(b *testing.B) {
			c := newCrowded(b, waiting)
			empty := memory(b, New(Settings{Client: c.store.client, Gate: "nobody"}))
			calls, redis, own, began := c.calls(), c.redisCPU(), processCPU(), time.Now()
			ticks := 0
			for b.Loop() {
				<-time.After(admission.Tick)
				ticks++
			}
			took := time.Since(began).Seconds()
			b.ReportMetric(float64(c.calls()-calls)/took, "commands/s")
			b.ReportMetric((processCPU()-own).Seconds()*1000/float64(ticks), "replica-ms/tick")
			b.ReportMetric((c.redisCPU()-redis)*1000/float64(ticks), "redis-ms/tick")
			if waiting > 0 {
				b.ReportMetric(float64(memory(b, c.store)-empty)/float64(waiting), "redis-B/visitor")
				b.ReportMetric(float64(heap()-c.heap)/float64(waiting), "replica-B/visitor")
			}
			if got := c.room.Info().Waiting; got != waiting {
				b.Errorf("%d wait, want %d", got, waiting)
			}
		})
	}
}

// BenchmarkMillion_Polled is a replica's tick while a million poll, each every 30 s: what Redis needs for the Sync that tells
// of one in three hundred, all over the line.
func BenchmarkMillion_Polled(b *testing.B) {
	const waiting, every = 1_000_000, 300
	c := newCrowded(b, waiting)
	snapshot, err := c.store.Sync(b.Context(), admission.Sync{Replica: "two"})
	if err != nil {
		b.Fatal(err)
	}
	var took float64
	for turn := 0; b.Loop(); turn++ {
		polled := admission.Bitmap{Base: snapshot.Base, Bits: make([]byte, waiting/8)}
		for t := turn % every; t < waiting; t += every {
			polled.Bits[t/8] |= 0x80 >> (t % 8)
		}
		before := c.redisCPU()
		if _, err := c.store.Sync(b.Context(), admission.Sync{Replica: "two", Far: polled, Since: snapshot.Seq}); err != nil {
			b.Fatal(err)
		}
		took += c.redisCPU() - before
	}
	b.ReportMetric(took*1000/float64(b.N), "redis-ms/sync")
}

// BenchmarkMillion_Burst is how long it takes until a hundred thousand who come at once have a ticket each, and what CPU
// this process, its visitors included, and Redis use for it.
func BenchmarkMillion_Burst(b *testing.B) {
	const arrivals = 100_000
	for b.Loop() {
		b.StopTimer()
		c := newCrowded(b, 0)
		calls, redis, own := c.calls(), c.redisCPU(), processCPU()
		b.StartTimer()
		var wg sync.WaitGroup
		var refused atomic.Int64
		for range arrivals {
			wg.Go(func() {
				for c.room.Visit(context.Background(), nil, true).Ticket == 0 {
					refused.Add(1) // a busy machine takes its store for dead; he comes again
					<-time.After(admission.Tick)
				}
			})
		}
		wg.Wait()
		b.StopTimer()
		b.ReportMetric(float64(c.calls()-calls), "commands")
		b.ReportMetric(float64(refused.Load()), "refused-at-first")
		b.ReportMetric((processCPU() - own).Seconds(), "cpu-s")
		b.ReportMetric(c.redisCPU()-redis, "redis-cpu-s")
		b.StartTimer()
	}
}

// calls is how many commands clients have sent for the line.
func (c *crowded) calls() (n int) {
	info, err := c.store.client.InfoMap(c.Context(), "commandstats").Result()
	if err != nil {
		c.Fatal(err)
	}
	if _, err := fmt.Sscanf(info["Commandstats"]["cmdstat_evalsha"], "calls=%d", &n); err != nil {
		c.Fatal(err)
	}
	return n
}

// redisCPU is what the server has used, in seconds.
func (c *crowded) redisCPU() (sum float64) {
	info, err := c.store.client.InfoMap(c.Context(), "cpu").Result()
	if err != nil {
		c.Fatal(err)
	}
	for _, name := range []string{"used_cpu_sys", "used_cpu_user"} {
		var part float64
		if _, err := fmt.Sscan(info["CPU"][name], &part); err != nil {
			c.Fatal(err)
		}
		sum += part
	}
	return sum
}

// processCPU is what this process has used.
func processCPU() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // it cannot fail for this process
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// heap is what this process holds in use.
func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
