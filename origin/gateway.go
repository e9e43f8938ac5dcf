package origin

import "context"

// Gateway is a payment provider. Its calls take an idempotency key: repeated with the same key and parameters, the same
// thing is answered and done once. They are never made inside a transaction. An error means that the outcome is unknown.
type Gateway interface {
	// Name of the provider, as in the path of its webhooks.
	Name() string
	// CreateIntent opens a payment without charging. Parameters that the provider refuses for good (an unknown payment
	// method) are an intent in IntentDeclined without an id.
	CreateIntent(ctx context.Context, key string, intent NewIntent) (Intent, error)
	// Confirm charges.
	Confirm(ctx context.Context, key, id string) (Intent, error)
	// Intent retrieves one.
	Intent(ctx context.Context, id string) (Intent, error)
	// Cancel ends an intent that is not paid; one that is answers as it stands.
	Cancel(ctx context.Context, key, id string) (Intent, error)
	// Refund gives all of a paid intent back, once per key.
	// One that is refunded in full already is no error.
	Refund(ctx context.Context, key, id string, amount int64) error
	// Webhook verifies a webhook's raw body and signature header and reads it. Any error means it is not to be believed.
	// The intent's state is empty where the webhook tells nothing of a payment.
	Webhook(header string, body []byte) (Webhook, Intent, error)
}

// NewIntent describes a payment to be made.
type NewIntent struct {
	Attempt  string // our id, kept in its metadata
	Hold     string
	Amount   int64
	Currency string
	Method   string
}

// IntentState is how far an intent is, in words of our own.
type IntentState string

// The states of an intent.
const (
	IntentNew      IntentState = "new"  // not confirmed: nothing is on its way
	IntentOpen     IntentState = "open" // in progress, or needing an action of the buyer
	IntentPaid     IntentState = "paid"
	IntentDeclined IntentState = "declined" // confirmed and refused: may be confirmed again, so cancel it
	IntentCanceled IntentState = "canceled"
)

// Intent is a payment at the gateway.
type Intent struct {
	ID      string
	Attempt string // our id, from its metadata
	State   IntentState
	Charge  string
	Reason  string // of the last decline, also once it is canceled
	Amount  int64
	// Action is what the buyer's page needs so that he can act where the intent waits for him, as for 3-D Secure: Stripe's
	// client secret. It is told to nobody else, and kept nowhere.
	Action string
}
