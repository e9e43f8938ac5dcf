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
		if caller.Gated && !caller.Slot {
			found, ok, err := s.find(r.Context(), hold, caller.Buyer)
			switch {
			case err != nil:
				return s.broke("read hold", err), true
			case !ok:
				return problem(NoSuchHold, nil), true
			case found.State == HoldActive && !caller.hasSlot(w, r):
				return outcome{}, false
			}
		}
		return s.charge(r.Context(), key, hold, method), true
	})
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
	members := map[string]any{"hold": hold}
	switch verdict.refusal {
	case NotRefused:
		o := success(http.StatusCreated, newOrderBody(verdict.order))
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
