package loadtest

import (
	"sync"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Latency is a distribution of durations, from a microsecond to ten minutes, with three digits. It may be used by many
// goroutines at once.
type Latency struct {
	mu        sync.Mutex
	histogram *hdr.Histogram
}

// NewLatency is an empty distribution.
func NewLatency() *Latency {
	return &Latency{histogram: hdr.New(1, (10 * time.Minute).Microseconds(), 3)}
}

// Record adds one duration; what lies outside the range counts as its edge.
func (l *Latency) Record(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.histogram.RecordValue(min(max(d.Microseconds(), 1), l.histogram.HighestTrackableValue()))
}

// Quantile is the duration below which the given percentage (0–100) of all lie; zero where there are none.
func (l *Latency) Quantile(percent float64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Duration(l.histogram.ValueAtQuantile(percent)) * time.Microsecond
}

// Count is how many were recorded.
func (l *Latency) Count() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.histogram.TotalCount()
}
