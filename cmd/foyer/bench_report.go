package main

import (
	"fmt"
	"strconv"

	"foyer/loadtest"
)

// report shows the result to people.
func (r benchResult) report(settings benchSettings, about []string) loadtest.Report {
	return loadtest.Report{
		Title:  "foyer bench",
		About:  about,
		Tables: []loadtest.Table{r.strategies(settings), r.admission(), r.payments()},
	}
}

func (r benchResult) strategies(settings benchSettings) loadtest.Table {
	table := loadtest.Table{
		Title:   fmt.Sprintf("%d buyers at once, %d tickets", settings.buyers, settings.tickets),
		Note:    "sold counts orders, not the counter; buys/s is buy requests answered per second, whatever the answer",
		Columns: []string{"strategy", "sold", "oversold", "seconds", "buys/s"},
	}
	sold := loadtest.Chart{Title: "tickets sold"}
	speed := loadtest.Chart{Title: "buy requests answered per second"}
	for _, s := range r.Strategies {
		table.Rows = append(table.Rows, []string{
			s.Strategy, fmt.Sprint(s.Sold), fmt.Sprint(s.Oversold), fmt.Sprintf("%.3f", s.Seconds), fmt.Sprintf("%.0f", s.BuysPerS),
		})
		sold.Bars = append(sold.Bars, loadtest.Bar{Label: s.Strategy, Value: float64(s.Sold), Bad: s.Oversold > 0})
		speed.Bars = append(speed.Bars, loadtest.Bar{Label: s.Strategy, Value: s.BuysPerS, Bad: s.Oversold > 0})
	}
	table.Charts = []loadtest.Chart{sold, speed}
	return table
}

func (r benchResult) admission() loadtest.Table {
	table := loadtest.Table{
		Title:   "with and without a gate",
		Note:    "peak is the most buyers between their first request at the shop and their last answer",
		Columns: []string{"gate", "arrivals", "peak inside", "sold", "oversold"},
	}
	peak := loadtest.Chart{Title: "most buyers inside at once"}
	for _, a := range r.Admission {
		name := "none"
		if a.Gate > 0 {
			name = strconv.Itoa(a.Gate)
		}
		table.Rows = append(table.Rows, []string{name, fmt.Sprint(a.Arrivals), fmt.Sprint(a.Peak), fmt.Sprint(a.Sold), fmt.Sprint(a.Oversold)})
		peak.Bars = append(peak.Bars, loadtest.Bar{Label: "gate: " + name, Value: float64(a.Peak), Bad: a.Gate > 0 && a.Peak > a.Gate})
	}
	table.Charts = []loadtest.Chart{peak}
	return table
}

func (r benchResult) payments() loadtest.Table {
	return loadtest.Table{
		Title:   "when things go wrong",
		Columns: []string{"what", "done", "comes out"},
		Rows: [][]string{
			{"one payment, delivered several times", fmt.Sprintf("%d deliveries", r.Idempotency.Deliveries),
				fmt.Sprintf("%d order, %d charge", r.Idempotency.Orders, r.Idempotency.Charges)},
			{"crashes between counter and ledger", fmt.Sprintf("%d stranded", r.Reconcile.Stranded),
				fmt.Sprintf("%d returned", r.Reconcile.Returned)},
		},
	}
}
