package proxy

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	maxBuckets = 1 << 16         // networks remembered in one generation
	generation = 2 * time.Minute // how long a network that is silent is remembered, at least
)

// limiter bounds how many newcomers join from one network. It remembers a bounded number of networks in two
// generations: whoever asks moves to the young one, and the old one is forgotten whole.
type limiter struct {
	limit rate.Limit
	burst int

	mu    sync.Mutex
	young map[netip.Prefix]*rate.Limiter
	old   map[netip.Prefix]*rate.Limiter
	since time.Time
}

// newLimiter allows so many joins a minute, and as many at once.
func newLimiter(perMinute int) *limiter {
	return &limiter{
		limit: rate.Limit(float64(perMinute) / 60), burst: perMinute,
		young: map[netip.Prefix]*rate.Limiter{}, old: map[netip.Prefix]*rate.Limiter{},
	}
}

// allow takes one join from the network's budget.
func (l *limiter) allow(network netip.Prefix, now time.Time) bool {
	return l.bucket(network, now).AllowN(now, 1)
}

// bucket is the network's budget.
func (l *limiter) bucket(network netip.Prefix, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.since) >= generation || len(l.young) >= maxBuckets {
		l.old, l.young, l.since = l.young, map[netip.Prefix]*rate.Limiter{}, now
	}
	bucket := l.young[network]
	if bucket == nil {
		if bucket = l.old[network]; bucket == nil {
			bucket = rate.NewLimiter(l.limit, l.burst)
		}
		l.young[network] = bucket
	}
	return bucket
}
