package stripe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	sdk "github.com/stripe/stripe-go/v82"
	"go.uber.org/zap"

	"foyer/origin"
)

// Provider is the gateway's name, as in the path of its webhooks.
const Provider = "stripe"

// What an intent carries of ours, so that a webhook finds its way back and the dashboard shows where it is from.
const (
	metadataAttempt = "foyer_attempt"
	metadataHold    = "foyer_hold"
)

// Settings say whose account is charged.
type Settings struct {
	SecretKey      string
	WebhookSecrets []string      // any of them may have signed
	APIBase        string        // empty: Stripe's own
	Timeout        time.Duration // of one call; one that takes longer has an unknown outcome
	Logger         *zap.Logger   // told of parameters that Stripe refuses for a reason that no buyer can mend; nil: nobody
}

// Client speaks to Stripe.
type Client struct {
	api      sdk.Backend // alone: with the library's client come some 200 services, and 5 MB of program
	key      string
	http     *http.Client
	secrets  []string
	logger   *zap.Logger
	freshKey func(key string) string // another key for the same step
}

var _ origin.Gateway = (*Client)(nil)

// NewClient makes a client of one account.
func NewClient(settings Settings) *Client {
	logger := settings.Logger
	if logger == nil {
		logger = zap.NewNop()
	}
	caller := newHTTPClient(settings.Timeout)
	backend := sdk.BackendConfig{
		HTTPClient:        caller,
		EnableTelemetry:   sdk.Bool(false),
		MaxNetworkRetries: sdk.Int64(0),
		LeveledLogger:     &sdk.LeveledLogger{Level: sdk.LevelNull}, // it prints answers
	}
	if settings.APIBase != "" {
		backend.URL = sdk.String(settings.APIBase)
	}
	return &Client{
		api: sdk.GetBackendWithConfig(sdk.APIBackend, &backend), key: settings.SecretKey, http: caller, secrets: settings.WebhookSecrets, logger: logger, freshKey: anotherKey,
	}
}

// Close ends the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Name is [Provider].
func (c *Client) Name() string { return Provider }

// CreateIntent opens a payment without charging. Cards alone are taken: any other method may take days, or leave the
// page, and the seats are reserved meanwhile.
func (c *Client) CreateIntent(ctx context.Context, key string, n origin.NewIntent) (origin.Intent, error) {
	params := &sdk.PaymentIntentCreateParams{
		Amount: sdk.Int64(n.Amount), Currency: sdk.String(n.Currency), PaymentMethod: sdk.String(n.Method),
		PaymentMethodTypes: sdk.StringSlice([]string{"card"}),
		CaptureMethod:      sdk.String(string(sdk.PaymentIntentCaptureMethodAutomatic)),
		Metadata:           map[string]string{metadataAttempt: n.Attempt, metadataHold: n.Hold},
	}
	made, err := c.post(ctx, key, "/v1/payment_intents", params, &params.Params)
	refused := readRefusal(err)
	if refused == nil || !refused.determined() {
		return judge("create intent", made, err)
	}
	if !refused.ofMethod() {
		c.logger.Error("gateway refuses our parameters", zap.String("attempt", n.Attempt), zap.Error(refused))
	}
	return origin.Intent{Attempt: n.Attempt, State: origin.IntentDeclined, Reason: refused.forBuyer()}, nil
}

// Confirm charges.
func (c *Client) Confirm(ctx context.Context, key, id string) (origin.Intent, error) {
	params := &sdk.PaymentIntentConfirmParams{}
	confirmed, err := c.post(ctx, key, sdk.FormatURLPath("/v1/payment_intents/%s/confirm", id), params, &params.Params)
	return judge("confirm intent", confirmed, err)
}

// Intent retrieves a payment. One that is not found is an error and no end: the key may be that of another account.
func (c *Client) Intent(ctx context.Context, id string) (origin.Intent, error) {
	params := &sdk.PaymentIntentRetrieveParams{}
	params.Context = ctx
	found := &sdk.PaymentIntent{}
	err := c.api.Call(http.MethodGet, sdk.FormatURLPath("/v1/payment_intents/%s", id), c.key, params, found)
	return judge("retrieve intent", found, err)
}

// Cancel ends a payment that is not paid. A key replays the answer that it was first given, a failure as well, for a day,
// and a seat stays reserved until the payment is canceled: so a replay that did not cancel is asked for once more with
// another key. That can do no harm, since nobody is charged by a cancel.
func (c *Client) Cancel(ctx context.Context, key, id string) (origin.Intent, error) {
	canceled, err := c.cancel(ctx, key, id)
	intent, failure := judge("cancel intent", canceled, err)
	final := failure == nil && (intent.State == origin.IntentCanceled || intent.State == origin.IntentPaid)
	if final || !replayed(canceled, err) {
		return intent, failure
	}
	canceled, err = c.cancel(ctx, c.freshKey(key), id)
	return judge("cancel intent", canceled, err)
}

func (c *Client) cancel(ctx context.Context, key, id string) (*sdk.PaymentIntent, error) {
	params := &sdk.PaymentIntentCancelParams{}
	return c.post(ctx, key, sdk.FormatURLPath("/v1/payment_intents/%s/cancel", id), params, &params.Params)
}

// Refund gives a paid intent back. It is always the whole, so that Stripe refuses a second one whatever its key; that is
// why a replayed failure may be asked for again with another key.
func (c *Client) Refund(ctx context.Context, key, id string, amount int64) error {
	made, err := c.refund(ctx, key, id, amount)
	if refused := readRefusal(err); refused != nil && refused.replayed && !refused.refundedBefore() {
		made, err = c.refund(ctx, c.freshKey(key), id, amount)
	}
	refused := readRefusal(err)
	switch {
	case refused != nil && refused.refundedBefore():
		return nil
	case err != nil:
		return fmt.Errorf("refund intent: %w", discreetError(err))
	}
	switch made.Status {
	case sdk.RefundStatusSucceeded, sdk.RefundStatusPending:
		return nil
	case "":
		return errors.New("refund intent: the answer shows no refund")
	default:
		return fmt.Errorf("refund intent: the refund %s is %s", made.ID, made.Status)
	}
}

func (c *Client) refund(ctx context.Context, key, id string, amount int64) (*sdk.Refund, error) {
	params := &sdk.RefundCreateParams{PaymentIntent: sdk.String(id), Amount: sdk.Int64(amount)}
	params.Context = ctx
	params.SetIdempotencyKey(key)
	made := &sdk.Refund{}
	return made, c.api.Call(http.MethodPost, "/v1/refunds", c.key, params, made)
}

// post makes a call that changes an intent; common are the parameters that all calls have, within the others.
func (c *Client) post(ctx context.Context, key, path string, params sdk.ParamsContainer, common *sdk.Params) (*sdk.PaymentIntent, error) {
	common.Context = ctx
	common.SetIdempotencyKey(key)
	answered := &sdk.PaymentIntent{}
	return answered, c.api.Call(http.MethodPost, path, c.key, params, answered)
}
