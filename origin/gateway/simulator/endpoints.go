package simulator

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	slowFor      = 3 * time.Second // pm_card_slow
	confirmAfter = time.Second     // pm_card_3ds
)

// methods are the cards that can be had.
var methods = map[string]bool{
	"pm_card_visa": true, "pm_card_declined": true, "pm_card_slow": true,
	"pm_card_timeout": true, "pm_card_error": true, "pm_card_3ds": true,
}

func (s *Simulator) create(_ *http.Request, form url.Values) answer {
	amount, err := strconv.ParseInt(form.Get("amount"), 10, 64)
	switch {
	case err != nil || amount <= 0:
		return invalid("parameter_invalid_integer", "amount must be a positive integer in minor units.")
	case len(form.Get("currency")) != 3:
		return invalid("parameter_invalid", "currency must be a three-letter code.")
	case !methods[form.Get("payment_method")]:
		return missing("No such payment method.")
	}
	i := intent{
		ID: newID("pi_"), Method: form.Get("payment_method"), Currency: form.Get("currency"), Status: statusNew,
		Metadata: metadata(form), Amount: amount, Created: time.Now(),
	}
	s.book.add(i)
	return ok(&i)
}

func (s *Simulator) confirm(r *http.Request, _ url.Values) answer {
	i, found := s.book.find(r.PathValue("id"))
	if !found {
		return missing("No such payment_intent.")
	}
	if i.Method == "pm_card_error" && i.Status == statusNew {
		return answer{status: http.StatusInternalServerError,
			body: encode(map[string]any{"error": map[string]any{"type": "api_error", "message": "Something went wrong."}})}
	}
	i, moved, _ := s.book.move(i.ID, statusBusy, statusNew, statusNoCard)
	if !moved {
		return unexpected(&i)
	}
	switch i.Method {
	case "pm_card_declined":
		i, _, _ = s.book.move(i.ID, statusNoCard, statusBusy)
		s.tell("payment_intent.payment_failed", i)
		return refusal(http.StatusPaymentRequired, "card_error", i.Code, i.Message, &i)
	case "pm_card_3ds":
		i, _, _ = s.book.move(i.ID, statusAction, statusBusy)
		s.later(func(ctx context.Context) { s.authenticate(ctx, i.ID) })
		return ok(&i)
	case "pm_card_slow":
		time.Sleep(slowFor) // a caller that hangs up changes nothing
	}
	i, _, _ = s.book.move(i.ID, statusPaid, statusBusy)
	s.tell("payment_intent.succeeded", i)
	a := ok(&i)
	a.mute = i.Method == "pm_card_timeout"
	return a
}

// authenticate is the buyer who passes 3-D Secure a second later.
func (s *Simulator) authenticate(ctx context.Context, id string) {
	if !wait(ctx, confirmAfter) {
		return
	}
	if i, moved, _ := s.book.move(id, statusPaid, statusAction); moved {
		s.tell("payment_intent.succeeded", i)
	}
}

func (s *Simulator) cancel(r *http.Request, _ url.Values) answer {
	i, moved, found := s.book.move(r.PathValue("id"), statusCanceled, statusNew, statusNoCard, statusAction)
	switch {
	case !found:
		return missing("No such payment_intent.")
	case !moved:
		return unexpected(&i)
	}
	s.tell("payment_intent.canceled", i)
	return ok(&i)
}

func (s *Simulator) retrieve(w http.ResponseWriter, r *http.Request) {
	i, found := s.book.find(r.PathValue("id"))
	if !found {
		write(w, missing("No such payment_intent."))
		return
	}
	write(w, ok(&i))
}

func (s *Simulator) refund(_ *http.Request, form url.Values) answer {
	var amount int64
	if text := form.Get("amount"); text != "" {
		parsed, err := strconv.ParseInt(text, 10, 64)
		if err != nil || parsed <= 0 {
			return invalid("parameter_invalid_integer", "amount must be a positive integer in minor units.")
		}
		amount = parsed
	}
	i, done, found := s.book.refund(form.Get("payment_intent"), amount)
	switch {
	case !found:
		return missing("No such payment_intent.")
	case !done && i.Refunded > 0:
		return invalid("charge_already_refunded", "The charge has already been refunded.")
	case !done:
		return invalid("charge_not_refundable", "There is no charge of that amount to refund.")
	}
	if amount == 0 {
		amount = i.Amount
	}
	return answer{status: http.StatusOK, body: encode(map[string]any{
		"id": newID("re_"), "object": "refund", "amount": amount, "currency": i.Currency,
		"payment_intent": i.ID, "charge": i.Charge, "status": "succeeded",
	})}
}

// charges shows what was really charged.
func (s *Simulator) charges(w http.ResponseWriter, r *http.Request) {
	list, totals := s.book.list(r.FormValue("hold"), r.FormValue("attempt"))
	type line struct {
		Intent   string `json:"intent"`
		Charge   string `json:"charge"`
		Hold     string `json:"hold"`
		Attempt  string `json:"attempt"`
		Status   string `json:"status"`
		Amount   int64  `json:"amount"`
		Refunded int64  `json:"refunded"`
	}
	lines := []line{}
	for _, i := range list[max(0, len(list)-1000):] {
		lines = append(lines, line{i.ID, i.Charge, i.ours("hold"), i.ours("attempt"), i.Status, i.Amount, i.Refunded})
	}
	write(w, answer{status: http.StatusOK, body: encode(struct {
		Totals
		List []line `json:"list"` // the latest 1,000
	}{totals, lines})})
}

func ok(i *intent) answer { return answer{status: http.StatusOK, body: encode(i.shape())} }

// invalid refuses parameters; nothing was begun, so the key stays unused.
func invalid(code, message string) answer {
	a := refusal(http.StatusBadRequest, "invalid_request_error", code, message, nil)
	a.forget = true
	return a
}

func missing(message string) answer {
	a := refusal(http.StatusNotFound, "invalid_request_error", "resource_missing", message, nil)
	a.forget = true
	return a
}

// unexpected refuses a step that does not fit the payment's status, and shows the payment.
func unexpected(i *intent) answer {
	return refusal(http.StatusBadRequest, "invalid_request_error", "payment_intent_unexpected_state",
		fmt.Sprintf("This PaymentIntent has a status of %s.", i.Status), i)
}

// metadata reads the fields metadata[name].
func metadata(form url.Values) map[string]string {
	found := map[string]string{}
	for field := range form {
		if name, isMetadata := strings.CutPrefix(field, "metadata["); isMetadata && strings.HasSuffix(name, "]") {
			found[strings.TrimSuffix(name, "]")] = form.Get(field)
		}
	}
	return found
}
