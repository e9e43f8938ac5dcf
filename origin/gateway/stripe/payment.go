package stripe

import (
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/stripe/stripe-go/v82"

	"foyer/origin"
)

// payment is a PaymentIntent as far as it is read. A webhook has the shape of the API version that its endpoint was made
// with, whatever ours is: so no more is read than all of them have.
type payment struct {
	ID           string            `json:"id"`
	Object       string            `json:"object"`
	Status       string            `json:"status"`
	Amount       int64             `json:"amount"`
	Metadata     map[string]string `json:"metadata"`
	LatestCharge reference         `json:"latest_charge"`
	Charges      struct {
		Data []reference `json:"data"` // newest first, in versions before latest_charge (2022-11-15)
	} `json:"charges"`
	LastError *failure `json:"last_payment_error"`
	Action    string   `json:"-"` // a webhook is no answer to the buyer
}

// failure is why the last try to charge did not succeed.
type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"` // meant for the buyer
}

// reference is the id of an object, which comes as that alone or expanded.
type reference string

// UnmarshalJSON reads "ch_1", {"id": "ch_1", …} or null.
func (r *reference) UnmarshalJSON(text []byte) error {
	if json.Unmarshal(text, (*string)(r)) == nil {
		return nil
	}
	var object struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(text, &object); err != nil {
		return fmt.Errorf("read reference: %w", err)
	}
	*r = reference(object.ID)
	return nil
}

// newPayment takes what is read of a PaymentIntent of the library.
func newPayment(i *sdk.PaymentIntent) payment {
	p := payment{ID: i.ID, Object: i.Object, Status: string(i.Status), Amount: i.Amount, Metadata: i.Metadata}
	if i.Status == sdk.PaymentIntentStatusRequiresAction {
		p.Action = i.ClientSecret
	}
	if i.LatestCharge != nil {
		p.LatestCharge = reference(i.LatestCharge.ID)
	}
	if i.LastPaymentError != nil {
		p.LastError = &failure{Code: string(i.LastPaymentError.Code), Message: i.LastPaymentError.Msg}
	}
	return p
}

// intent translates Stripe's words.
func (p payment) intent() origin.Intent {
	i := origin.Intent{ID: p.ID, Attempt: p.Metadata[metadataAttempt], State: p.state(), Amount: p.Amount, Action: p.Action}
	switch i.State {
	case origin.IntentPaid: // what failed is a charge of Stripe's too
		i.Charge = p.charge()
	case origin.IntentDeclined:
		i.Reason = p.LastError.Message
	}
	return i
}

func (p payment) charge() string {
	if p.LatestCharge == "" && len(p.Charges.Data) > 0 {
		return string(p.Charges.Data[0])
	}
	return string(p.LatestCharge)
}

// state is how far it is. What is unknown is open: only certainty frees a seat.
func (p payment) state() origin.IntentState {
	switch sdk.PaymentIntentStatus(p.Status) {
	case sdk.PaymentIntentStatusSucceeded:
		return origin.IntentPaid
	case sdk.PaymentIntentStatusCanceled:
		return origin.IntentCanceled
	case sdk.PaymentIntentStatusRequiresConfirmation:
		return origin.IntentNew
	case sdk.PaymentIntentStatusRequiresPaymentMethod:
		if p.LastError != nil {
			return origin.IntentDeclined
		}
		return origin.IntentNew
	default:
		return origin.IntentOpen
	}
}

// judge reads the answer of a call: the payment in it, whether it succeeded or was refused and showed it.
func judge(did string, answered *sdk.PaymentIntent, err error) (origin.Intent, error) {
	if refused := readRefusal(err); refused != nil && refused.determined() && refused.intent != nil {
		answered, err = refused.intent, nil
	}
	switch {
	case err != nil:
		return origin.Intent{}, fmt.Errorf("%s: %w", did, discreetError(err))
	case answered.ID == "" || answered.Status == "":
		return origin.Intent{}, fmt.Errorf("%s: %w", did, errors.New("the answer shows no payment"))
	}
	return newPayment(answered).intent(), nil
}
