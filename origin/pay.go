package origin

import (
	"context"
	"net/http"
)

// longestMethod bounds the name of a payment method.
const longestMethod = 255

// pay starts the payment of a hold, or answers for one that was started before. The same key is the same payment.
func (s *Shop) pay(w http.ResponseWriter, r *http.Request) {
	text, given, refusal, detail := idempotencyKey(r)
	switch {
	case refusal != NotRefused:
		refuse(w, refusal, detail)
		return
	case !given:
		refuse(w, keyMissing, "")
		return
	}
	method, refusal, detail := readMethod(w, r)
	if refusal != NotRefused {
		refuse(w, refusal, detail)
		return
	}
	caller := s.buyers.Load().identify(r)
	if caller.Buyer == "" {
		refuse(w, NoSuchHold, "")
		return
	}
	hold := r.PathValue("hold")
	key := Key{Buyer: caller.Buyer, Route: "pay", Key: text}
	s.once(w, r, key, fingerprint("pay", hold, method), func() (outcome, bool) {
		if o, answered, stopped := s.needsSlot(w, r, caller, key, hold); stopped {
			return o, answered
		}
		return s.charge(r.Context(), key, hold, method), true
	})
}

// needsSlot stops a payment that would start without a slot: answered is false where the waiting answer has been
// written. What was begun before goes on without one.
func (s *Shop) needsSlot(w http.ResponseWriter, r *http.Request, caller Caller, key Key, hold string) (o outcome, answered, stopped bool) {
	if !caller.Gated || caller.Slot {
		return outcome{}, false, false
	}
	found, ok, err := s.find(r.Context(), hold, caller.Buyer)
	switch {
	case err != nil:
		return s.broke("read hold", err), true, true
	case !ok:
		o = problem(NoSuchHold, nil)
		o.unbound = true
		return o, true, true
	case found.State != HoldActive:
		return outcome{}, false, false
	}
	_, begun, err := s.settings.Ledger.Attempt(r.Context(), derive("a_", key, 0))
	o.unbound = err == nil && !begun
	return o, false, !caller.hasSlot(w, r)
}

func readMethod(w http.ResponseWriter, r *http.Request) (string, Refusal, string) {
	body, refusal, detail := readFields(w, r, "payment_method")
	if refusal != NotRefused {
		return "", refusal, detail
	}
	return body.word("payment_method", longestMethod)
}

// charge makes the payment to its end or to where its outcome is unknown, also for a client that hangs up.
func (s *Shop) charge(ctx context.Context, key Key, hold, method string) outcome {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTime+3*s.settings.Payment.Timeout)
	defer cancel()
	verdict, err := s.payments.pay(ctx, key, hold, method)
	if err != nil {
		return s.broke("pay hold", err)
	}
	o := s.paid(ctx, hold, verdict)
	o.unbound = verdict.unbegun
	return o
}

// paid puts what became of a payment into an answer.
func (s *Shop) paid(ctx context.Context, hold string, verdict verdict) outcome {
	members := map[string]any{"hold": hold}
	switch verdict.refusal {
	case NotRefused:
		o := success(http.StatusCreated, newOrderBody(verdict.order))
		o.Headers["Location"] = "/api/orders/" + verdict.order.ID
		o.commands = append([]string{"release"}, s.shelf.commands(ctx, true)...)
		return o
	case PaymentPending:
		if verdict.action != "" {
			members["client_secret"] = verdict.action
		}
		o := problem(PaymentPending, members)
		o.Headers["Location"] = "/api/holds/" + hold
		return o
	case AlreadyPaid:
		members["order"] = verdict.order.ID
	case NoSuchHold:
		if _, pending, err := s.settings.Strategy.Pending(ctx, hold); err == nil && pending {
			return problem(requestInProgress, map[string]any{"hold": hold, "detail": "the hold is still being made"})
		}
	}
	if verdict.reason != "" {
		members["detail"] = verdict.reason
	}
	return problem(verdict.refusal, members)
}
