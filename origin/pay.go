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
	hold := r.PathValue("hold")
	buyer, err := s.payer(r.Context(), caller, hold)
	switch {
	case err != nil:
		send(w, s.broke("read hold", err))
		return
	case buyer == "":
		refuse(w, NoSuchHold, "")
		return
	}
	key := Key{Buyer: buyer, Route: "pay", Key: text}
	s.once(w, r, key, fingerprint("pay", hold, method), func(bool) (outcome, bool) {
		admitted, o, ok := s.mayPay(w, r, caller, key, hold)
		if !ok {
			return o, o.Status != 0
		}
		return s.charge(r.Context(), admitted, key, hold, method), true
	})
}

// payer is the name under which a caller pays a hold: of his two, where he has them, the one that made it.
func (s *Shop) payer(ctx context.Context, caller Caller, hold string) (string, error) {
	if caller.cookie == "" || caller.cookie == caller.Buyer {
		return caller.Buyer, nil
	}
	found, ok, err := s.find(ctx, hold, caller)
	if err == nil && ok {
		return found.Buyer, nil
	}
	return caller.Buyer, err
}

// mayPay gets a slot for a payment that would start without one; what was begun before goes on. Where ok is false, o is
// the answer, or the waiting answer has been written and o has no status.
func (s *Shop) mayPay(w http.ResponseWriter, r *http.Request, caller Caller, key Key, hold string) (admitted Caller, o outcome, ok bool) {
	if !caller.Gated || caller.Slot {
		return caller, outcome{}, true
	}
	found, known, err := s.find(r.Context(), hold, caller)
	switch {
	case err != nil:
		return caller, s.broke("read hold", err), false
	case !known:
		o = problem(NoSuchHold, nil)
		o.unbound = true
		return caller, o, false
	case found.State != HoldActive:
		return caller, outcome{}, true
	}
	_, begun, err := s.settings.Ledger.Attempt(r.Context(), derive("a_", key, 0))
	o.unbound = err == nil && !begun
	admitted, ok = caller.withSlot(w, r)
	return admitted, o, ok
}

func readMethod(w http.ResponseWriter, r *http.Request) (string, Refusal, string) {
	body, refusal, detail := readFields(w, r, "payment_method")
	if refusal != NotRefused {
		return "", refusal, detail
	}
	return body.word("payment_method", longestMethod)
}

// charge makes the payment to its end or to where its outcome is unknown, also for a client that hangs up.
func (s *Shop) charge(ctx context.Context, caller Caller, key Key, hold, method string) outcome {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTime+3*s.settings.Payment.Timeout)
	defer cancel()
	verdict, err := s.payments.pay(ctx, key, hold, method)
	if err != nil {
		return s.broke("pay hold", err)
	}
	if verdict.attempt != "" {
		s.payments.slots.keep(verdict.attempt, caller.Release)
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
