package main

import (
	"context"
	"errors"
	"time"

	"foyer/store/pgstore"
	"foyer/store/strategy"
)

// strategyResult is a line of the strategies' table.
type strategyResult struct {
	Strategy string  `json:"strategy"`
	Capacity int64   `json:"capacity"`
	Sold     int64   `json:"sold"` // counted from rows, not from the counter
	Oversold int64   `json:"oversold"`
	Seconds  float64 `json:"seconds"`    // from the first buy request to the last answer
	BuysPerS float64 `json:"buys_per_s"` // buy requests answered, whatever the answer
}

// strategy lets all buyers ask at once for a hold, and then the winners pay. Only the asking is timed.
func (b *benchRun) strategy(ctx context.Context, name string) (result strategyResult, err error) {
	event := "bench-" + name
	settings := strategy.Settings{Ledger: b.ledger, Redis: b.client, Prefix: b.prefix}
	var control *pgstore.Control
	if name == strategy.Naive {
		if control, err = b.openControl(ctx, event); err != nil {
			return result, err
		}
		defer control.Close()
		settings.Control = control
	}
	made, err := strategy.New(name, settings)
	if err != nil {
		return result, err
	}
	shop, err := b.openShop(ctx, made, event, b.settings.tickets, b.settings.buyers)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, shop.stop()) }()
	if _, err := made.Reconcile(ctx, event); err != nil { // a counter beside the ledger is built before the sale
		return result, err
	}
	rushed, err := shop.rush(ctx, b.settings.buyers)
	if err != nil {
		return result, err
	}
	result = strategyResult{
		Strategy: name, Capacity: b.settings.tickets, Seconds: rushed.Took.Round(time.Microsecond).Seconds(),
		BuysPerS: float64(int(float64(rushed.Answered) / rushed.Took.Seconds())),
	}
	if control != nil {
		result.Sold, _, err = control.Taken(ctx, event) // each row is a buyer who was told that the ticket is his
	} else if err = settle(ctx, rushed.Winners); err == nil {
		result.Sold, err = b.orders(ctx, event)
	}
	result.Oversold = max(0, result.Sold-result.Capacity)
	return result, err
}

// openControl makes the tables of the naive strategy, which stand beside the ledger's and have no constraint.
func (b *benchRun) openControl(ctx context.Context, event string) (*pgstore.Control, error) {
	control, err := pgstore.OpenControl(ctx, b.postgres)
	if err != nil {
		return nil, err
	}
	return control, control.Put(ctx, benchEvent(event, b.settings.tickets))
}
