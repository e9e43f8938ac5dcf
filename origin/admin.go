package origin

import (
	"math"
	"net/http"
	"strconv"

	"go.uber.org/zap"
)

// ledgerBody is what the ledger says of an event, with the counter beside it.
type ledgerBody struct {
	Event           string     `json:"event"`
	Capacity        int64      `json:"capacity"`
	Sold            int64      `json:"sold"`
	Held            int64      `json:"held"`
	Remaining       int64      `json:"remaining"`
	Counter         *int64     `json:"counter"` // null where the strategy has none
	Drift           int64      `json:"drift"`
	Orders          int64      `json:"orders"`
	ChargesCaptured int64      `json:"charges_captured"`
	ChargesRefunded int64      `json:"charges_refunded"`
	Holds           holdCounts `json:"holds"`
	Stream          struct {
		Pending int64 `json:"pending"`
	} `json:"stream"`
}

type holdCounts struct {
	Active  int64 `json:"active"`
	Paying  int64 `json:"paying"`
	Pending int64 `json:"pending"`
}

func (s *Shop) readLedger(w http.ResponseWriter, r *http.Request) {
	event := r.PathValue("event")
	audit, ok, err := s.settings.Ledger.Audit(r.Context(), event)
	switch {
	case err != nil:
		send(w, s.broke("audit event", err))
		return
	case !ok:
		refuse(w, NoSuchEvent, "")
		return
	}
	body := ledgerBody{
		Event: audit.ID, Capacity: audit.Capacity, Sold: audit.Sold, Held: audit.Held, Remaining: audit.Remaining(),
		Orders: audit.Orders, ChargesCaptured: audit.ChargesCaptured, ChargesRefunded: audit.ChargesRefunded,
		Holds: holdCounts{Active: audit.Active, Paying: audit.Paying, Pending: audit.Pending},
	}
	compared, err := s.settings.Strategy.Compare(r.Context(), event)
	if err != nil { // the ledger is the truth, and is told without the counter too
		s.logger.Warn("counter not read", zap.String("event", event), zap.Error(err))
	} else {
		body.Counter, body.Drift, body.Stream.Pending = compared.Counter, compared.DriftBefore, compared.Pending
	}
	send(w, success(http.StatusOK, body))
}

func (s *Shop) resizeEvent(w http.ResponseWriter, r *http.Request) {
	body, refusal, detail := readFields(w, r, "capacity")
	if refusal != NotRefused {
		refuse(w, refusal, detail)
		return
	}
	capacity, err := strconv.ParseInt(string(body["capacity"]), 10, 64)
	if err != nil || capacity < 0 || capacity > math.MaxInt32 {
		refuse(w, badRequest, "capacity must be an integer from 0 to 2147483647")
		return
	}
	ctx, cancel := s.step(r.Context())
	defer cancel()
	stock, refusal, err := s.settings.Ledger.Resize(ctx, r.PathValue("event"), capacity)
	switch {
	case err != nil:
		send(w, s.broke("resize event", err))
	case refusal == CapacityInUse:
		send(w, problem(refusal, map[string]any{"event": stock.ID, "sold": stock.Sold, "held": stock.Held}))
	case refusal != NotRefused:
		refuse(w, refusal, "")
	default:
		s.logger.Info("capacity changed", zap.String("event", stock.ID), zap.Int64("capacity", capacity))
		if _, err := s.settings.Strategy.Reconcile(ctx, stock.ID); err != nil {
			s.logger.Warn("counter not brought to the new capacity", zap.String("event", stock.ID), zap.Error(err))
		}
		send(w, success(http.StatusOK, newStockBody(stock)))
	}
}

// refundOrder gives the money of an order back, once. Its units stay sold: they are the organiser's to sell again, by
// raising the capacity.
func (s *Shop) refundOrder(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := s.step(r.Context())
	defer cancel()
	order, ok, err := s.settings.Ledger.Order(ctx, r.PathValue("order"))
	if err != nil {
		send(w, s.broke("read order", err))
		return
	}
	if !ok {
		refuse(w, NoSuchOrder, "")
		return
	}
	if order.Refunded == 0 {
		attempt, ok, err := s.settings.Ledger.Attempt(ctx, order.Attempt)
		if err == nil && ok {
			err = s.settings.Ledger.RefundDue(ctx, attempt.ID)
		}
		if err == nil && ok {
			err = s.payments.refund(ctx, attempt)
		}
		if err != nil || !ok {
			send(w, s.broke("refund order", err))
			return
		}
		s.logger.Info("order refunded", zap.String("order", order.ID))
		order.Refunded = attempt.Amount
	}
	send(w, success(http.StatusOK, map[string]any{"order": order.ID, "refunded": order.Refunded, "state": "refunded"}))
}

func (s *Shop) reconcileNow(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := s.step(r.Context())
	defer cancel()
	sum, err := s.reconciler.all(ctx)
	if err != nil {
		send(w, s.broke("reconcile", err))
		return
	}
	send(w, success(http.StatusOK, map[string]int64{
		"checked": sum.Checked, "stranded_returned": sum.StrandedReturned,
		"drift_before": sum.DriftBefore, "drift_after": sum.DriftAfter,
	}))
}
