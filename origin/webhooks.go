package origin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"go.uber.org/zap"
)

const (
	maxWebhook      = 256 << 10
	signatureHeader = "Stripe-Signature" // the simulator signs as Stripe does
)

// takeWebhook stores a webhook with its effect. The gateway sends it again until it is told 200.
func (s *Shop) takeWebhook(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("provider") != s.settings.Gateway.Name() {
		refuse(w, notFound, "")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxWebhook))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		refuse(w, tooLarge, "")
		return
	case err != nil:
		refuse(w, badRequest, "the body could not be read")
		return
	}
	hook, intent, err := s.settings.Gateway.Webhook(r.Header.Get(signatureHeader), body)
	if err != nil {
		s.logger.Warn("webhook refused", zap.Error(err))
		refuse(w, badSignature, "")
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), stepTime+s.settings.Payment.Timeout)
	defer cancel()
	fresh, err := s.payments.heard(ctx, hook, intent)
	if err != nil {
		send(w, s.broke("keep webhook", err))
		return
	}
	send(w, success(http.StatusOK, map[string]bool{"received": true, "fresh": fresh}))
}

// heard keeps a webhook and its settlement, and does what follows.
func (p *payments) heard(ctx context.Context, hook Webhook, intent Intent) (fresh bool, err error) {
	settle, err := p.settlement(ctx, intent)
	if err != nil {
		return false, err
	}
	fresh, settled, err := p.ledger.KeepWebhook(ctx, hook, settle)
	if err != nil {
		return false, fmt.Errorf("keep webhook: %w", err)
	}
	if fresh {
		p.followed(ctx, settled)
	}
	return fresh, nil
}

// settlement is the effect of a webhook, nil where it has none: what it tells is of no payment of ours, or not final.
func (p *payments) settlement(ctx context.Context, intent Intent) (*Settlement, error) {
	if intent.State != IntentPaid && intent.State != IntentDeclined && intent.State != IntentCanceled {
		return nil, nil
	}
	a, ok, err := p.attemptOf(ctx, intent)
	if err != nil || !ok {
		return nil, err
	}
	settle := &Settlement{Attempt: a.ID, Charge: intent.Charge, Reason: intent.Reason}
	switch intent.State {
	case IntentPaid:
		settle.State = AttemptPaid
	case IntentCanceled:
		settle.State = canceledAs(intent)
	case IntentDeclined:
		// A failure may be that of an earlier try, and arrive after a success. Only a cancel makes it final.
		if a.State != AttemptOpen {
			return nil, nil
		}
		canceled, err := p.gateway.Cancel(ctx, a.ID+":cancel", intent.ID)
		switch {
		case err != nil:
			return nil, err
		case canceled.State == IntentPaid:
			settle.State, settle.Charge = AttemptPaid, canceled.Charge
		case canceled.State == IntentCanceled:
			settle.State = AttemptDeclined
		default:
			return nil, nil
		}
	}
	return settle, nil
}

// attemptOf finds the attempt that an intent belongs to. A paid one of another intent or amount is not ours to settle.
func (p *payments) attemptOf(ctx context.Context, intent Intent) (Attempt, bool, error) {
	id := intent.Attempt
	if id == "" {
		id = intent.ID
	}
	a, ok, err := p.ledger.Attempt(ctx, id)
	if err != nil {
		return Attempt{}, false, fmt.Errorf("find attempt: %w", err)
	}
	if !ok {
		return Attempt{}, false, nil
	}
	if a.Intent == "" && a.State == AttemptOpen {
		if err := p.ledger.KeepIntent(ctx, a.ID, intent.ID); err != nil && !errors.Is(err, ErrFenced) {
			return Attempt{}, false, fmt.Errorf("keep intent: %w", err)
		}
	} else if a.Intent != intent.ID {
		p.logger.Warn("webhook names another intent", zap.String("attempt", a.ID))
		return Attempt{}, false, nil
	}
	if intent.State == IntentPaid && intent.Amount != a.Amount {
		p.logger.Error("webhook names another amount", zap.String("attempt", a.ID))
		return Attempt{}, false, nil
	}
	return a, true, nil
}
