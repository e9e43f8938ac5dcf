package origin

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"
)

// leaseMargin is how much longer than the hold its buyer's lease is kept, so that it never runs out in mid-payment.
const leaseMargin = time.Minute

// holdBody is a hold as JSON shows it.
type holdBody struct {
	Hold      string `json:"hold"`
	Event     string `json:"event"`
	Quantity  int64  `json:"quantity"`
	State     string `json:"state"`
	Amount    int64  `json:"amount"`
	Currency  string `json:"currency"`
	ExpiresAt string `json:"expires_at,omitempty"` // not known while pending
	Order     string `json:"order,omitempty"`
	Reason    string `json:"reason,omitempty"`
}

func newHoldBody(h Hold) holdBody {
	body := holdBody{
		Hold: h.ID, Event: h.Event, Quantity: h.Quantity, State: string(h.State), Amount: h.Amount, Currency: h.Currency,
		Order: h.Order, Reason: string(h.Reason),
	}
	if !h.ExpiresAt.IsZero() {
		body.ExpiresAt = wireTime(h.ExpiresAt)
	}
	return body
}

// makeHold sets units aside. With an Idempotency-Key a retry is the same hold.
func (s *Shop) makeHold(w http.ResponseWriter, r *http.Request) {
	text, given, refusal, detail := idempotencyKey(r)
	if refusal != NotRefused {
		refuse(w, refusal, detail)
		return
	}
	quantity, refusal, detail := readQuantity(w, r)
	if refusal != NotRefused {
		refuse(w, refusal, detail)
		return
	}
	caller := s.buyers.Load().admit(w, r)
	if !caller.named() { // whom the gate has yet to let in has a name, and so keys of his own, from then on
		var admitted bool
		if caller, admitted = caller.withSlot(w, r); !admitted {
			return
		}
		caller = s.buyers.Load().known(w, r, caller)
		caller.Slot = true
	}
	request := HoldRequest{
		ID: "h_" + strings.ToLower(rand.Text()), Event: r.PathValue("event"), Buyer: caller.Buyer,
		Quantity: quantity, TTL: s.settings.HoldTTL,
	}
	if !given {
		if _, admitted := caller.withSlot(w, r); admitted {
			o, _ := s.hold(r.Context(), request)
			send(w, o)
		}
		return
	}
	key := Key{Buyer: caller.Buyer, Route: "hold", Key: text}
	s.once(w, r, key, fingerprint("hold", request.Event, quantity), func(repeated bool) (outcome, bool) {
		request.Repeated = repeated
		if _, admitted := caller.withSlot(w, r); !admitted {
			return outcome{}, false // a retry of a hold that is on its way may have come here: the key stays bound
		}
		return s.holdKeyed(r.Context(), key, request), true
	})
}

// holdKeyed makes the hold of an idempotency key: the same one however often it is asked. One that was voided, because the
// process that took for it died, was never decided on: the next of the key takes its place.
func (s *Shop) holdKeyed(ctx context.Context, key Key, request HoldRequest) outcome {
	var o outcome
	for generation := range maxGenerations {
		request.ID = derive("h_", key, generation)
		var voided bool
		if o, voided = s.hold(ctx, request); !voided {
			break
		}
	}
	return o
}

func readQuantity(w http.ResponseWriter, r *http.Request) (int64, Refusal, string) {
	body, refusal, detail := readFields(w, r, "quantity")
	if refusal != NotRefused {
		return 0, refusal, detail
	}
	return body.quantity("quantity")
}

// hold asks the strategy, also for a client that hangs up: the hold of one who retries is then there.
func (s *Shop) hold(ctx context.Context, request HoldRequest) (o outcome, voided bool) {
	ctx, cancel := s.step(ctx)
	defer cancel()
	reply, err := s.settings.Strategy.Hold(ctx, request)
	if err != nil {
		return s.broke("make hold", err), false
	}
	return s.held(ctx, request, reply), reply.Hold.State == HoldRefused
}

// held puts a strategy's reply into words.
func (s *Shop) held(ctx context.Context, request HoldRequest, reply HoldReply) outcome {
	switch {
	case reply.Refusal == SoldOut:
		o := problem(SoldOut, map[string]any{"event": request.Event})
		o.commands = s.shelf.commands(ctx, false)
		return o
	case reply.Refusal != NotRefused:
		o := problem(reply.Refusal, map[string]any{"event": request.Event})
		o.unbound = true
		return o
	case reply.Hold.State == HoldRefused: // an earlier try of this very hold
		return problem(reply.Hold.Reason, map[string]any{"event": request.Event})
	case reply.Hold.Buyer != request.Buyer:
		return problem(NoSuchHold, nil)
	}
	o := success(http.StatusCreated, newHoldBody(reply.Hold))
	if reply.Hold.State == HoldPending {
		o.Status, o.final = http.StatusAccepted, false
	}
	o.Headers["Location"] = "/api/holds/" + reply.Hold.ID
	o.commands = []string{fmt.Sprintf("extend=%d", int64((s.settings.HoldTTL + leaseMargin).Seconds()))}
	return o
}

// find reads a hold of the caller's, in the ledger or on its way there.
func (s *Shop) find(ctx context.Context, id string, caller Caller) (Hold, bool, error) {
	if caller.Buyer == "" {
		return Hold{}, false, nil
	}
	hold, ok, err := s.settings.Ledger.Hold(ctx, id)
	if err == nil && !ok {
		hold, ok, err = s.settings.Strategy.Pending(ctx, id)
	}
	return hold, ok && caller.is(hold.Buyer), err
}

func (s *Shop) readHold(w http.ResponseWriter, r *http.Request) {
	hold, ok, err := s.find(r.Context(), r.PathValue("hold"), s.buyers.Load().identify(r))
	switch {
	case err != nil:
		send(w, s.broke("read hold", err))
	case !ok:
		refuse(w, NoSuchHold, "")
	default:
		send(w, success(http.StatusOK, newHoldBody(hold)))
	}
}

// releaseHold gives a hold back, once however often it is asked.
func (s *Shop) releaseHold(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := s.step(r.Context())
	defer cancel()
	id := r.PathValue("hold")
	found, ok, err := s.find(ctx, id, s.buyers.Load().identify(r))
	switch {
	case err != nil:
		send(w, s.broke("read hold", err))
		return
	case !ok:
		refuse(w, NoSuchHold, "")
		return
	case found.State == HoldPending:
		refuse(w, requestInProgress, "the hold is still being made")
		return
	}
	hold, freed, refusal, err := s.settings.Ledger.Release(ctx, id, found.Buyer)
	switch {
	case err != nil:
		send(w, s.broke("release hold", err))
	case refusal != NotRefused:
		send(w, problem(refusal, map[string]any{"hold": id}))
	default:
		if freed {
			s.gaveBack(ctx, Ended{Hold: hold.ID, Event: hold.Event, Quantity: hold.Quantity})
		}
		send(w, outcome{Answer: Answer{Status: http.StatusNoContent}})
	}
}

// gaveBack tells the strategy. A loss is found by the reconciler.
func (s *Shop) gaveBack(ctx context.Context, ended Ended) {
	if err := s.settings.Strategy.GaveBack(ctx, ended); err != nil {
		s.logger.Warn("strategy not told of freed units", zap.String("hold", ended.Hold), zap.Error(err))
	}
}

// once runs a request under its idempotency key, or answers with what is known of it. run is told whether an earlier run
// may have begun, and answers false where it has written the answer itself.
func (s *Shop) once(w http.ResponseWriter, r *http.Request, key Key, print string, run func(repeated bool) (outcome, bool)) {
	begun, err := s.idempotency.begin(r.Context(), key, print)
	switch {
	case err != nil:
		send(w, s.broke("claim idempotency key", err))
		return
	case begun.refusal != NotRefused:
		refuse(w, begun.refusal, "")
		return
	case begun.replay != nil:
		w.Header().Set("Idempotent-Replayed", "true")
		send(w, outcome{Answer: *begun.replay})
		return
	}
	o, answered := run(begun.fence > 1)
	ctx, cancel := s.step(r.Context())
	defer cancel()
	if err := s.idempotency.end(ctx, key, begun.fence, o); err != nil {
		// The answer stands all the same: a retry works on the same hold or attempt.
		s.logger.Warn("idempotency key not ended", zap.Error(err))
	}
	if answered {
		send(w, o)
	}
}
