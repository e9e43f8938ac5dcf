package simulator

import (
	"fmt"
	"net/http"

	"foyer/origin"
)

// payment is a PaymentIntent as it comes over the wire, as far as it is read.
type payment struct {
	ID           string
	Object       string
	Status       string
	Amount       int64
	Metadata     map[string]string
	LatestCharge string   `json:"latest_charge"`
	ClientSecret string   `json:"client_secret"` // only while the buyer must act
	LastError    *problem `json:"last_payment_error"`
}

// problem is an error as it comes over the wire.
type problem struct {
	Type, Code, Message string
	PaymentIntent       *payment `json:"payment_intent"`
}

// reply is any answer: a payment, or an error that may show one.
type reply struct {
	payment
	Error  problem
	status int
}

// refusedForGood tells whether the parameters were refused, so that nothing was begun.
func (r reply) refusedForGood() bool {
	switch r.status {
	case http.StatusBadRequest, http.StatusPaymentRequired, http.StatusNotFound:
		return r.Error.Type != "idempotency_error"
	}
	return false
}

// intent is the payment in the answer, whether it succeeded or refused and showed it.
func (r reply) intent(did string) (origin.Intent, error) {
	switch {
	case r.status/100 == 2 && r.ID != "":
		return r.payment.intent(), nil
	case r.Error.PaymentIntent != nil:
		return r.Error.PaymentIntent.intent(), nil
	default:
		return origin.Intent{}, fmt.Errorf("%s: %d %s", did, r.status, r.Error.Code)
	}
}

// intent translates Stripe's words.
func (p payment) intent() origin.Intent {
	i := origin.Intent{
		ID: p.ID, Attempt: p.Metadata["attempt"], State: origin.IntentOpen, Charge: p.LatestCharge, Amount: p.Amount,
		Action: p.ClientSecret,
	}
	if p.LastError != nil {
		i.Reason = p.LastError.Message
	}
	switch p.Status {
	case statusPaid:
		i.State = origin.IntentPaid
	case statusCanceled:
		i.State = origin.IntentCanceled
	case statusNew:
		i.State = origin.IntentNew
	case statusNoCard:
		i.State = origin.IntentNew
		if p.LastError != nil {
			i.State = origin.IntentDeclined
		}
	}
	return i
}
