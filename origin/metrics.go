package origin

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
)

// scrapeTime bounds the one reading of the ledger that a scrape makes.
const scrapeTime = 2 * time.Second

// metrics counts what the shop does.
type metrics struct {
	payments *prometheus.CounterVec // by outcome
	expired  prometheus.Counter
	drift    *prometheus.GaugeVec // by event
}

// newMetrics makes and registers them; without a registerer they count for nobody.
func newMetrics(registerer prometheus.Registerer, ledger Ledger, logger *zap.Logger) (*metrics, error) {
	m := &metrics{
		payments: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "foyer_payments_total", Help: "Payments by outcome.",
		}, []string{"outcome"}),
		expired: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "foyer_holds_expired_total", Help: "Holds that ended unpaid.",
		}),
		drift: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "foyer_event_counter_drift", Help: "Counter minus remaining after the last reconcile.",
		}, []string{"event"}),
	}
	if registerer == nil {
		return m, nil
	}
	for _, collector := range []prometheus.Collector{m.payments, m.expired, m.drift, newStockCollector(ledger, logger)} {
		if err := registerer.Register(collector); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// stockCollector reads the events from the ledger when it is scraped.
type stockCollector struct {
	ledger                          Ledger
	logger                          *zap.Logger
	capacity, sold, held, remaining *prometheus.Desc
}

func newStockCollector(ledger Ledger, logger *zap.Logger) *stockCollector {
	describe := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("foyer_event_"+name, help, []string{"event"}, nil)
	}
	return &stockCollector{
		ledger: ledger, logger: logger,
		capacity:  describe("capacity", "Units that may be sold."),
		sold:      describe("sold", "Units sold."),
		held:      describe("held", "Units on hold."),
		remaining: describe("remaining", "Units that can be held."),
	}
}

// Describe names the gauges.
func (c *stockCollector) Describe(out chan<- *prometheus.Desc) {
	out <- c.capacity
	out <- c.sold
	out <- c.held
	out <- c.remaining
}

// Collect reads them.
func (c *stockCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	stocks, err := c.ledger.Events(ctx)
	if err != nil {
		c.logger.Warn("events not read for metrics", zap.Error(err))
		return
	}
	gauge := func(desc *prometheus.Desc, value int64, event string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value), event)
	}
	for _, stock := range stocks {
		gauge(c.capacity, stock.Capacity, stock.ID)
		gauge(c.sold, stock.Sold, stock.ID)
		gauge(c.held, stock.Held, stock.ID)
		gauge(c.remaining, stock.Remaining(), stock.ID)
	}
}
