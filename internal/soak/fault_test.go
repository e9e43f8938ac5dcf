package soak

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"foyer/internal/services"
)

// fault is something that breaks, and is mended again.
type fault struct {
	name string
	at   time.Duration // after the beginning
	run  func(ctx context.Context) error

	began, mended time.Time
}

// house is what can break.
type house struct {
	redis    *services.RedisServer
	link     *toxiproxy.Proxy // of the last replica to Redis
	replicas []*replica
}

// schedule is what breaks when, over a span.
func (h *house) schedule(span time.Duration) (faults []*fault) {
	killEvery, repeats := 20*time.Second, 2
	if span < time.Minute {
		killEvery, repeats = span/4, 1
	}
	add := func(name string, share float64, run func(context.Context) error) {
		faults = append(faults, &fault{name: name, at: time.Duration(share * float64(span)), run: run})
	}
	for i := range repeats {
		later := 0.4 * float64(i)
		add("Redis killed, restarted empty", 0.15+later, h.emptyRedis)
		add(fmt.Sprintf("Redis frozen for %v", 2*idle), 0.35+later, h.freezeRedis)
	}
	add(fmt.Sprintf("a link cut for %v", 2*idle), 0.52, h.cutLink)
	for n := 1; time.Duration(n)*killEvery < span*9/10; n++ {
		victim := n % len(h.replicas)
		faults = append(faults, &fault{
			name: fmt.Sprintf("replica %d killed -9", victim+1), at: time.Duration(n) * killEvery,
			run: func(ctx context.Context) error { return h.killReplica(ctx, victim) },
		})
	}
	return faults
}

func (h *house) emptyRedis(ctx context.Context) error {
	if err := h.redis.Kill(); err != nil {
		return err
	}
	wait(ctx, 500*time.Millisecond)
	return h.redis.Restart()
}

func (h *house) freezeRedis(ctx context.Context) error {
	if err := h.redis.Freeze(); err != nil {
		return err
	}
	wait(ctx, 2*idle)
	return h.redis.Thaw()
}

func (h *house) cutLink(ctx context.Context) error {
	for _, stream := range []string{"upstream", "downstream"} {
		toxic := fmt.Sprintf(`{"name": %q, "type": "timeout", "stream": %q, "attributes": {"timeout": 0}}`, stream, stream)
		if _, err := h.link.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
			return fmt.Errorf("cut the link: %w", err)
		}
	}
	wait(ctx, 2*idle)
	for _, stream := range []string{"upstream", "downstream"} {
		if err := h.link.Toxics.RemoveToxic(ctx, stream); err != nil {
			return fmt.Errorf("mend the link: %w", err)
		}
	}
	return nil
}

func (h *house) killReplica(ctx context.Context, i int) error {
	h.replicas[i].kill()
	wait(ctx, time.Second)
	if err := h.replicas[i].start(); err != nil {
		return err
	}
	return h.replicas[i].awaitReady(ctx)
}

// cuttable is a proxy to Redis that can be cut; it ends with the test.
func cuttable(t *testing.T, redis string) *toxiproxy.Proxy {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	address := strings.TrimSuffix(strings.TrimPrefix(redis, "redis://"), "/0")
	proxy := toxiproxy.NewProxy(server, "redis", "127.0.0.1:0", address)
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Stop)
	return proxy
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
