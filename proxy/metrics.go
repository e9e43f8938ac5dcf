package proxy

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"foyer/admission"
)

// waits and idle times span from a tick to an evening.
var longBuckets = []float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200}

// Metrics are the numbers of all gates. A nil *Metrics counts nothing.
type Metrics struct {
	requests   *prometheus.CounterVec
	admissions *prometheus.CounterVec
	waits      *prometheus.HistogramVec
	estimates  *prometheus.HistogramVec
	idle       *prometheus.HistogramVec
	upstreams  *prometheus.HistogramVec
	rejected   *prometheus.CounterVec
	shared     prometheus.Counter
}

// NewMetrics registers the numbers.
func NewMetrics(registry prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		requests:   counter("gate_requests_total", "Requests by what the gate did with them.", "gate", "verdict"),
		admissions: counter("gate_admissions_total", "Leases given.", "gate"),
		waits:      histogram("gate_wait_seconds", "From the ticket to the lease.", longBuckets, "gate"),
		estimates:  histogram("gate_estimate_error_seconds", "How far the first estimate of a wait was off, to either side.", longBuckets, "gate"),
		idle:       histogram("gate_slot_idle_seconds", "How long a free slot waited while somebody waited.", longBuckets, "gate"),
		upstreams:  histogram("upstream_duration_seconds", "How long the upstream took, to the end of the answer.", prometheus.DefBuckets, "gate"),
		rejected:   counter("token_rejected_total", "Tokens that did not verify.", "reason"),
		shared: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: "foyer", Name: "token_shared_total", Help: "Passes that came back long after they had been renewed.",
		}),
	}
	for _, c := range []prometheus.Collector{m.requests, m.admissions, m.waits, m.estimates, m.idle, m.upstreams, m.rejected, m.shared} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	for _, reason := range admission.Rejections() {
		m.rejected.WithLabelValues(string(reason))
	}
	return m, nil
}

// Opened has the numbers of a gate begin at zero, so that they are there before anything happens.
func (m *Metrics) Opened(gate string) {
	if m == nil {
		return
	}
	m.requests.WithLabelValues(gate, "admit")
	m.requests.WithLabelValues(gate, kindWaiting.name)
	m.admissions.WithLabelValues(gate)
	for _, histogram := range []*prometheus.HistogramVec{m.waits, m.estimates, m.idle, m.upstreams} {
		histogram.WithLabelValues(gate)
	}
}

// Admitted counts n leases given.
func (m *Metrics) Admitted(gate string, n int) {
	if m != nil {
		m.admissions.WithLabelValues(gate).Add(float64(n))
	}
}

// Waited takes the time from a ticket to its lease.
func (m *Metrics) Waited(gate string, d time.Duration) {
	if m != nil {
		m.waits.WithLabelValues(gate).Observe(d.Seconds())
	}
}

// Estimated takes the time from a ticket to its lease less what was estimated first.
func (m *Metrics) Estimated(gate string, off time.Duration) {
	if m != nil {
		m.estimates.WithLabelValues(gate).Observe(off.Abs().Seconds())
	}
}

// SlotIdle takes how long a slot was free while somebody waited.
func (m *Metrics) SlotIdle(gate string, d time.Duration) {
	if m != nil {
		m.idle.WithLabelValues(gate).Observe(d.Seconds())
	}
}

// TokenRejected counts a token that did not verify.
func (m *Metrics) TokenRejected(reason string) {
	if m != nil {
		m.rejected.WithLabelValues(reason).Inc()
	}
}

// TokenShared counts an old pass that came back.
func (m *Metrics) TokenShared() {
	if m != nil {
		m.shared.Inc()
	}
}

// request counts what a gate did with a request.
func (m *Metrics) request(gate, verdict string) {
	if m != nil {
		m.requests.WithLabelValues(gate, verdict).Inc()
	}
}

// upstream takes how long an upstream took.
func (m *Metrics) upstream(gate string, d time.Duration) {
	if m != nil {
		m.upstreams.WithLabelValues(gate).Observe(d.Seconds())
	}
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "foyer", Name: name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "foyer", Name: name, Help: help, Buckets: buckets,
	}, labels)
}
