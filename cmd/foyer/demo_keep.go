package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"foyer/loadtest"
)

// demoBusy is how many simulated people keep the gate of a kept demo busy: a few more than it lets in, so that whoever
// comes with a browser sees the line and gets in soon.
const demoBusy = demoGate + 4

// keepShop opens the shop of the demo again, restocked and with times for people instead of simulated ones, and serves
// until ctx ends.
func keepShop(ctx context.Context, folder string, people io.Writer) error {
	cfg := demoConfig(folder)
	cfg.Gates[0].Session.Idle, cfg.Gates[0].Session.Max = time.Minute, 10*time.Minute
	cfg.Gates[0].Session.Claim = 10 * time.Second
	cfg.Store.StateFile = "" // the line of the sale is over
	cfg.Origin.HoldTTL = 2 * time.Minute
	cfg.Origin.Events[0].Capacity += 1000
	sale, err := newSale(ctx, cfg, people)
	if err != nil {
		return fmt.Errorf("open the shop again: %w", err)
	}
	stop := sale.start(ctx)
	fmt.Fprintf(people, "\nOpen %s/events/%s and wait your turn. %s shows the gate. Ctrl-C ends it.\n", sale.app.Edge, demoEvent, sale.app.Admin)
	var group errgroup.Group
	for i := range demoBusy {
		group.Go(func() error { return sale.loiter(ctx, i) })
	}
	return errors.Join(group.Wait(), stop())
}

// loiter sends one simulated person after the other: each looks around for a while, and one in five buys.
func (s *sale) loiter(ctx context.Context, i int) error {
	for round := 0; ctx.Err() == nil; round++ {
		plan := loadtest.Plan{Event: demoEvent, Quantity: 1, Patience: -1, Think: 4 * time.Second, Fate: loadtest.JustLooks}
		if (i+round)%5 == 0 {
			plan.Fate, plan.Think = loadtest.Buys, time.Second
		}
		if outcome := loadtest.NewBuyer(s.site, plan).Run(ctx); outcome.End == loadtest.Failed && ctx.Err() == nil {
			return fmt.Errorf("keep the gate busy: %w", outcome.Err)
		}
	}
	return nil
}
