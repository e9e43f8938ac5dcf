package main

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"foyer/admission"
	"foyer/proxy"
)

// newRegistry holds the numbers of this process: those of the runtime, and which build it is.
func newRegistry() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace: "foyer", Name: "build_info", Help: "1, with the build in its label.",
		ConstLabels: prometheus.Labels{"build": buildName()},
	})
	build.Set(1)
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), build)
	return registry
}

// storeMetrics are the numbers of the line's store as this replica sees it.
type storeMetrics struct {
	took *prometheus.HistogramVec
	up   *prometheus.GaugeVec
}

func newStoreMetrics(registry prometheus.Registerer) (*storeMetrics, error) {
	m := &storeMetrics{
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "foyer", Name: "store_op_duration_seconds", Help: "How long a store took, by what it was asked for.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1},
		}, []string{"store", "op"}),
		up: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: "foyer", Name: "store_up", Help: "Whether the store (the line, or the state file) did what it was last asked for.",
		}, []string{"store"}),
	}
	for _, collector := range []prometheus.Collector{m.took, m.up} {
		if err := registry.Register(collector); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return m, nil
}

// seen notes whether a store has done what it was asked for last.
func (m *storeMetrics) seen(store string, err error) {
	up := 1.0
	if err != nil {
		up = 0
	}
	m.up.WithLabelValues(store).Set(up)
}

// observer has a room tell what it sees to the metrics.
func observer(gate string, gates *proxy.Metrics, stores *storeMetrics) admission.Observer {
	gates.Opened(gate)
	return admission.Observer{
		Rejected: func(reason admission.Rejection) { gates.TokenRejected(string(reason)) },
		Shared:   gates.TokenShared,
		Admitted: func(waited time.Duration) {
			gates.Admitted(gate, 1)
			gates.Waited(gate, waited)
		},
		Estimated: func(off time.Duration) { gates.Estimated(gate, off) },
		SlotIdle:  func(d time.Duration) { gates.SlotIdle(gate, d) },
		Store: func(op string, took time.Duration, err error) {
			stores.took.WithLabelValues("line", op).Observe(took.Seconds())
			stores.seen("line", err)
		},
	}
}
