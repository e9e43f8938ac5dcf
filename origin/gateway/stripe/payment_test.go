package stripe

import (
	"encoding/json"
	"testing"

	sdk "github.com/stripe/stripe-go/v82"

	"foyer/origin"
)

func TestPayment_OnlyCertaintyIsAnEnd(t *testing.T) {
	for text, want := range map[string]origin.IntentState{
		`"status":"requires_confirmation"`:                                             origin.IntentNew,
		`"status":"requires_payment_method","last_payment_error":null`:                 origin.IntentNew,
		`"status":"requires_payment_method"`:                                           origin.IntentNew,
		`"status":"requires_payment_method","last_payment_error":{"message":"No."}`:    origin.IntentDeclined,
		`"status":"requires_action"`:                                                   origin.IntentOpen,
		`"status":"requires_action","last_payment_error":{"message":"An earlier try"}`: origin.IntentOpen,
		`"status":"processing"`:                                                        origin.IntentOpen,
		`"status":"requires_capture"`:                                                  origin.IntentOpen,
		`"status":"resting"`:                                                           origin.IntentOpen,
		`"status":"succeeded"`:                                                         origin.IntentPaid,
		`"status":"canceled","last_payment_error":{"message":"No."}`:                   origin.IntentCanceled,
	} {
		text = `{"id":"pi_1","object":"payment_intent",` + text + `}`
		var told payment
		if err := json.Unmarshal([]byte(text), &told); err != nil {
			t.Fatal(err)
		}
		var answered sdk.PaymentIntent
		if err := json.Unmarshal([]byte(text), &answered); err != nil {
			t.Fatal(err)
		}
		if byHook, byAnswer := told.intent(), newPayment(&answered).intent(); byHook.State != want || byAnswer != byHook {
			t.Errorf("%s: a webhook says %+v, an answer %+v, want %s", text, byHook, byAnswer, want)
		}
	}
}

func TestPayment_ChargeIsReadInEveryShape(t *testing.T) {
	for text, want := range map[string]string{
		`{"latest_charge":"ch_1"}`:                                     "ch_1",
		`{"latest_charge":{"id":"ch_1","object":"charge","amount":5}}`: "ch_1",
		`{"latest_charge":null}`:                                       "",
		`{}`:                                                           "",
		`{"charges":{"object":"list","data":[{"id":"ch_2","status":"succeeded"},{"id":"ch_1"}]}}`: "ch_2",
		`{"latest_charge":"ch_3","charges":{"data":[{"id":"ch_2"}]}}`:                             "ch_3",
		`{"charges":{"data":[]}}`: "",
	} {
		var told payment
		if err := json.Unmarshal([]byte(text), &told); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := told.charge(); got != want {
			t.Errorf("%s: charge %q, want %q", text, got, want)
		}
	}
}
