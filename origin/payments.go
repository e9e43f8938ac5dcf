package origin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
)

const (
	// maxGenerations bounds how many holds or attempts one idempotency key may make. Another one is only made by a new
	// request, and when the one before was voided, or canceled for certain, without a charge.
	maxGenerations = 8
	refundTries    = 4
	firstRefund    = 100 * time.Millisecond
)

// payments is the machine that moves an attempt to its end:
//
//	StartPayment ─▶ CreateIntent ─▶ KeepIntent ─▶ Confirm ─▶ Settle
//
// Each step may be repeated, by anybody: the attempt's id is the gateway's idempotency key, and the ledger's guards let
// the first word count. The gateway is never called inside a transaction.
type payments struct {
	ledger   Ledger
	strategy Strategy
	gateway  Gateway
	timeout  time.Duration
	settle   time.Duration
	metrics  *metrics
	slots    *slots
	logger   *zap.Logger
	hurry    chan string // attempts that the resolver shall look at soon
}

// verdict is what became of a payment.
type verdict struct {
	refusal Refusal
	order   Order // when paid, now or before
	reason  string
	action  string // what the buyer's page needs, where the payment waits for him
	attempt string // of this key, where its outcome is unknown
	unbegun bool   // there is no attempt of this key
}

// undecided is the error of a payment that the gateway has not decided yet.
type undecided struct{ action string }

func (*undecided) Error() string { return "the gateway has not decided yet" }

func newPayments(settings Settings, counts *metrics) *payments {
	return &payments{
		ledger: settings.Ledger, strategy: settings.Strategy, gateway: settings.Gateway,
		timeout: settings.Payment.Timeout, settle: settings.Payment.Settle,
		metrics: counts, slots: &slots{ledger: settings.Ledger, logger: settings.Logger},
		logger: settings.Logger, hurry: make(chan string, 256),
	}
}

// pay makes the payment of this key. An error means that nothing is known to have been started.
func (p *payments) pay(ctx context.Context, key Key, hold, method string) (verdict, error) {
	for generation := range maxGenerations {
		start := PaymentStart{Attempt: derive("a_", key, generation), Hold: hold, Buyer: key.Buyer, Method: method}
		reply, err := p.ledger.StartPayment(ctx, start)
		switch {
		case err != nil:
			return verdict{}, fmt.Errorf("start payment: %w", err)
		case reply.Refusal != NotRefused:
			return verdict{refusal: reply.Refusal, order: reply.Order, unbegun: generation == 0}, nil
		case reply.Attempt.Hold != hold: // its request was slower than the one that found nothing to begin
			return verdict{refusal: keyReused}, nil
		case reply.Attempt.State != AttemptOpen:
			if reply.Attempt.State == AttemptCanceled {
				continue
			}
			return ended(reply.Attempt, reply.Order), nil
		}
		settled, err := p.advance(ctx, reply.Attempt)
		if err != nil {
			p.logger.Warn("outcome of a payment is unknown", zap.String("attempt", start.Attempt), zap.Error(err))
			p.soon(start.Attempt)
			p.metrics.payments.WithLabelValues("pending").Inc()
			return pending(start.Attempt, err), nil
		}
		return ended(settled.Attempt, settled.Order), nil
	}
	return verdict{refusal: Declined, reason: "the payment was canceled; pay again with a new key"}, nil
}

// pending is the verdict on an outcome that is not known.
func pending(attempt string, err error) verdict {
	v := verdict{refusal: PaymentPending, attempt: attempt}
	var waits *undecided
	if errors.As(err, &waits) {
		v.action = waits.action
	}
	return v
}

// ended puts the end of an attempt into words.
func ended(a Attempt, order Order) verdict {
	switch a.State {
	case AttemptPaid:
		return verdict{order: order}
	case AttemptDeclined:
		return verdict{refusal: Declined, reason: a.Reason}
	case AttemptRefunded, AttemptRefundDue:
		if order.ID != "" {
			return verdict{order: order}
		}
		return verdict{refusal: HoldIsExpired, reason: "the payment came too late and is refunded"}
	default: // canceled while we were at it: the hold tells, and the same request may be sent again
		return verdict{refusal: PaymentPending}
	}
}

// advance moves an open attempt as far as it gets: also one that another process began and left.
func (p *payments) advance(ctx context.Context, a Attempt) (Settled, error) {
	var intent Intent
	var err error
	if a.Intent == "" {
		intent, err = p.open(ctx, a)
	} else {
		intent, err = p.gateway.Intent(ctx, a.Intent)
	}
	if err == nil && intent.State == IntentNew {
		intent, err = p.gateway.Confirm(ctx, a.ID+":confirm", intent.ID)
	}
	if err != nil {
		return Settled{}, err
	}
	return p.take(ctx, a, intent)
}

// open makes the intent and keeps it, so that whoever finds the attempt knows whether anything can have been charged.
func (p *payments) open(ctx context.Context, a Attempt) (Intent, error) {
	intent, err := p.gateway.CreateIntent(ctx, a.ID+":create", NewIntent{
		Attempt: a.ID, Hold: a.Hold, Amount: a.Amount, Currency: a.Currency, Method: a.Method,
	})
	if err != nil || intent.ID == "" {
		return intent, err
	}
	if err := p.ledger.KeepIntent(ctx, a.ID, intent.ID); err != nil {
		return Intent{}, fmt.Errorf("keep intent: %w", err)
	}
	return intent, nil
}

// take takes over the gateway's word on an open attempt. A declined intent is canceled first, so that it can never be
// charged after another attempt was.
func (p *payments) take(ctx context.Context, a Attempt, intent Intent) (Settled, error) {
	settle := Settlement{Attempt: a.ID, Charge: intent.Charge, Reason: intent.Reason}
	if intent.State == IntentDeclined && intent.ID != "" {
		canceled, err := p.gateway.Cancel(ctx, a.ID+":cancel", intent.ID)
		if err != nil {
			return Settled{}, err
		}
		settle.Charge = canceled.Charge
		if canceled.State != IntentCanceled {
			intent.State = canceled.State
		}
	}
	switch intent.State {
	case IntentPaid:
		settle.State = AttemptPaid
	case IntentDeclined:
		settle.State = AttemptDeclined
	case IntentCanceled:
		settle.State = canceledAs(intent)
	default:
		return Settled{}, &undecided{intent.Action}
	}
	return p.apply(ctx, settle)
}

// canceledAs tells a decline, whose intent we cancel ourselves, from a payment that was ended before it was tried.
func canceledAs(intent Intent) AttemptState {
	if intent.Reason != "" {
		return AttemptDeclined
	}
	return AttemptCanceled
}

// apply settles an attempt in the ledger and does what follows from it.
func (p *payments) apply(ctx context.Context, settle Settlement) (Settled, error) {
	settled, err := p.ledger.Settle(ctx, settle)
	if err != nil {
		return Settled{}, fmt.Errorf("settle attempt: %w", err)
	}
	p.followed(ctx, settled)
	return settled, nil
}

// followed does what follows from a settlement: freed units are told of, and money for nothing goes back.
func (p *payments) followed(ctx context.Context, settled Settled) {
	if settled.Changed {
		p.metrics.payments.WithLabelValues(string(settled.Attempt.State)).Inc()
	}
	p.slots.settled(ctx, settled.Attempt)
	if settled.Freed != nil {
		if err := p.strategy.GaveBack(ctx, *settled.Freed); err != nil {
			p.logger.Warn("strategy not told of freed units", zap.String("hold", settled.Freed.Hold), zap.Error(err))
		}
	}
	if settled.Attempt.State == AttemptRefundDue {
		if err := p.refund(ctx, settled.Attempt); err != nil {
			p.logger.Error("refund is still due", zap.String("attempt", settled.Attempt.ID), zap.Error(err))
			p.soon(settled.Attempt.ID)
		}
	}
}

// refund gives the money of an attempt back, once whatever is repeated: the gateway's key is made from the attempt.
func (p *payments) refund(ctx context.Context, a Attempt) error {
	var err error
	for try, pause := 0, firstRefund; try < refundTries; try, pause = try+1, 2*pause {
		if try > 0 && !sleep(ctx, pause) {
			break
		}
		if err = p.gateway.Refund(ctx, a.ID+":refund", a.Intent, a.Amount); err == nil {
			if err = p.ledger.Refunded(ctx, a.ID, a.Amount); err == nil {
				p.metrics.payments.WithLabelValues(string(AttemptRefunded)).Inc()
				return nil
			}
		}
	}
	return fmt.Errorf("refund attempt: %w", err)
}

// soon asks the resolver to look at an attempt; where it has too much to do, it finds it by itself.
func (p *payments) soon(attempt string) {
	select {
	case p.hurry <- attempt:
	default:
	}
}
