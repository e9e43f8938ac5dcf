package proxy

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"

	"foyer/admission"
)

// gateInfo is how a gate stands, as the admin API says it.
type gateInfo struct {
	Gate              string           `json:"gate"`
	Mode              admission.Mode   `json:"mode"`
	Capacity          int              `json:"capacity"`
	AdmitRate         int              `json:"admit_rate"`
	Active            int              `json:"active"`
	Offered           int              `json:"offered"`
	Leaving           int              `json:"leaving"`
	Lapsed            int              `json:"lapsed"`
	Waiting           int              `json:"waiting"`
	Tail              admission.Ticket `json:"tail"`
	Head              admission.Ticket `json:"head"`
	AdmittedPerMinute float64          `json:"admitted_per_minute"`
	Eta               *eta             `json:"eta_seconds"`
	Round             string           `json:"round"`
	Store             string           `json:"store"`
	SoldOut           bool             `json:"sold_out"`
	AsOf              *string          `json:"as_of"`
	GivesAt           *string          `json:"gives_at"`
}

// newGateInfo is the same in the words of the wire.
func newGateInfo(i admission.GateInfo) gateInfo {
	return gateInfo{
		Gate: i.Gate, Mode: i.Mode, Capacity: i.Capacity, AdmitRate: i.AdmitRate, Active: i.Active, Offered: i.Offered,
		Waiting: i.Waiting, Tail: i.Tail, Head: i.Head, AdmittedPerMinute: math.Round(i.AdmittedPerMinute*10) / 10,
		Eta: newEta(i.Eta), Round: i.Round, Store: i.Store, SoldOut: i.SoldOut,
		Leaving: i.Leaving, Lapsed: i.Lapsed, AsOf: instant(i.AsOf), GivesAt: instant(i.GivesAt),
	}
}

// gateCollector gives Prometheus how the gates stand.
type gateCollector struct {
	gates    func() map[string]Operated
	capacity *prometheus.Desc
	active   *prometheus.Desc
	offered  *prometheus.Desc
	waiting  *prometheus.Desc
}

// NewGateCollector is a collector of the gauges of those gates that there are when it is asked.
func NewGateCollector(gates func() map[string]Operated) prometheus.Collector {
	gauge := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("foyer_"+name, help, []string{"gate"}, nil)
	}
	return &gateCollector{
		gates:    gates,
		capacity: gauge("gate_capacity", "Buyers that may be inside at once."),
		active:   gauge("gate_active", "Leases."),
		offered:  gauge("gate_offered", "Offers."),
		waiting:  gauge("gate_waiting", "Live visitors in line."),
	}
}

func (c *gateCollector) Describe(descs chan<- *prometheus.Desc) {
	descs <- c.capacity
	descs <- c.active
	descs <- c.offered
	descs <- c.waiting
}

func (c *gateCollector) Collect(metrics chan<- prometheus.Metric) {
	for name, gate := range c.gates() {
		info := gate.Info()
		for desc, value := range map[*prometheus.Desc]int{
			c.capacity: info.Capacity, c.active: info.Active, c.offered: info.Offered, c.waiting: info.Waiting,
		} {
			metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value), name)
		}
	}
}
