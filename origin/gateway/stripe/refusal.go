package stripe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	sdk "github.com/stripe/stripe-go/v82"
)

// replayedHeader tells that an answer is the one first given with its key.
const replayedHeader = "Idempotent-Replayed"

// refusal is an answer of 4xx or 5xx. It takes the place of the library's error, whose text is all of it.
type refusal struct {
	status   int
	kind     sdk.ErrorType
	code     sdk.ErrorCode
	param    string
	request  string // its id
	message  string
	intent   *sdk.PaymentIntent // that it shows, if any
	replayed bool
}

// readRefusal finds the refusal in the error of a call, nil where there is none.
func readRefusal(err error) *refusal {
	var told *sdk.Error
	if !errors.As(err, &told) {
		return nil
	}
	r := &refusal{
		status: told.HTTPStatusCode, kind: told.Type, code: told.Code, param: told.Param, request: told.RequestID,
		message: told.Msg, intent: told.PaymentIntent,
	}
	if told.LastResponse != nil {
		r.replayed = told.LastResponse.Header.Get(replayedHeader) == "true"
	}
	return r
}

// Error names it by its codes and the id of the request.
func (r *refusal) Error() string {
	text := fmt.Sprintf("status %d, %s", r.status, r.kind)
	for _, detail := range []struct{ name, value string }{
		{"code", string(r.code)}, {"parameter", r.param}, {"request", r.request},
	} {
		if detail.value != "" {
			text += ", " + detail.name + " " + detail.value
		}
	}
	return text
}

// determined tells whether it says what became of the call. A key in use or reused says nothing of the payment.
func (r *refusal) determined() bool {
	switch r.status {
	case http.StatusBadRequest, http.StatusPaymentRequired, http.StatusNotFound:
		return r.kind != sdk.ErrorTypeIdempotency
	}
	return false
}

// ofMethod tells whether it is of the buyer's payment method, which another one may mend: the card, or that there is no
// such method, as nothing else is named that could be missing.
func (r *refusal) ofMethod() bool {
	return r.kind == sdk.ErrorTypeCard || r.code == sdk.ErrorCodeResourceMissing || r.param == "payment_method"
}

// refundedBefore tells whether a refund was refused because there is nothing left to give back.
func (r *refusal) refundedBefore() bool { return r.code == sdk.ErrorCodeChargeAlreadyRefunded }

// forBuyer is the reason that a buyer is told. Stripe words only those of cards for them.
func (r *refusal) forBuyer() string {
	switch {
	case r.kind == sdk.ErrorTypeCard && r.message != "":
		return r.message
	case r.ofMethod():
		return "This payment method cannot be used."
	default:
		return "The payment was refused."
	}
}

// replayed tells whether an answer, whichever, is the one first given with its key.
func replayed(answered *sdk.PaymentIntent, err error) bool {
	if refused := readRefusal(err); refused != nil {
		return refused.replayed
	}
	return err == nil && answered.LastResponse != nil && answered.LastResponse.Header.Get(replayedHeader) == "true"
}

// discreetError is the error of a call without what was answered: the library's own quote that.
func discreetError(err error) error {
	if refused := readRefusal(err); refused != nil {
		return refused
	}
	var broke net.Error // also of net/http, for no connection and time-outs
	if errors.As(err, &broke) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return errors.New("the answer cannot be read")
}
