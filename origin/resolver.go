package origin

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"
)

const (
	resolveEvery = time.Second
	resolveLimit = 100 // attempts per look
	resolveWidth = 8   // of them at once
	// idleMargin is how much longer than one call to the gateway an attempt must have been left alone before it counts
	// as abandoned by the process that drives it.
	idleMargin = 2 * time.Second
)

// resolve settles payments of unknown outcome until the context ends: those left by a process that died, those whose
// answer was lost, and refunds that are due.
func (p *payments) resolve(ctx context.Context) error {
	ticker := time.NewTicker(min(resolveEvery, p.timeout))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case id := <-p.hurry:
			p.lookAt(ctx, id)
		case <-ticker.C:
			p.look(ctx)
		}
	}
}

// lookAt resolves one attempt whose outcome was lost a moment ago.
func (p *payments) lookAt(ctx context.Context, id string) {
	attempt, ok, err := p.ledger.Attempt(ctx, id)
	if err == nil && ok {
		p.resolveOne(ctx, attempt)
	}
}

// look resolves what has been left alone for too long.
func (p *payments) look(ctx context.Context) {
	attempts, err := p.ledger.Open(ctx, p.timeout+idleMargin, resolveLimit)
	if err != nil {
		if ctx.Err() == nil {
			p.logger.Error("open attempts not read", zap.Error(err))
		}
		return
	}
	var group errgroup.Group
	group.SetLimit(resolveWidth)
	for _, attempt := range attempts {
		group.Go(func() error {
			p.resolveOne(ctx, attempt)
			return nil
		})
	}
	_ = group.Wait() // each has logged its own
}

// resolveOne ends its work on an attempt also when the process is asked to stop.
func (p *payments) resolveOne(ctx context.Context, a Attempt) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTime+p.timeout)
	defer cancel()
	if err := p.resolveAttempt(ctx, a); err != nil {
		p.logger.Info("payment is not settled yet", zap.String("attempt", a.ID), zap.Duration("age", a.Age), zap.Error(err))
	}
}

func (p *payments) resolveAttempt(ctx context.Context, a Attempt) error {
	switch {
	case a.State == AttemptRefundDue:
		return p.refund(ctx, a)
	case a.State != AttemptOpen:
		return nil
	case a.Intent == "":
		// Nothing was confirmed, and cannot be any more: the intent of an ended attempt is not kept.
		_, err := p.apply(ctx, Settlement{Attempt: a.ID, State: AttemptCanceled})
		return err
	}
	intent, err := p.gateway.Intent(ctx, a.Intent)
	if err == nil && intent.State == IntentNew && a.Age < p.settle {
		intent, err = p.confirmAgain(ctx, a)
	}
	if err == nil && (intent.State == IntentOpen || intent.State == IntentNew) && a.Age >= p.settle {
		intent, err = p.gateway.Cancel(ctx, a.ID+":cancel", a.Intent)
	}
	if err != nil {
		return fmt.Errorf("ask gateway: %w", err)
	}
	_, err = p.take(ctx, a, intent)
	return err
}

// confirmAgain repeats a confirmation that has not come about. The key replays a stored failure: an intent that is
// still new after that is canceled, so that its buyer can try again, and only "canceled" frees the seat.
func (p *payments) confirmAgain(ctx context.Context, a Attempt) (Intent, error) {
	intent, err := p.gateway.Confirm(ctx, a.ID+":confirm", a.Intent)
	if err == nil {
		return intent, nil
	}
	if intent, err = p.gateway.Intent(ctx, a.Intent); err != nil || intent.State != IntentNew {
		return intent, err
	}
	return p.gateway.Cancel(ctx, a.ID+":cancel", a.Intent)
}
