package simulator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"foyer/origin"
	"foyer/origin/gateway/signature"
)

// Provider is the gateway's name, as in the path of its webhooks.
const Provider = "simulator"

const maxAnswer = 1 << 20

// Client speaks to a [Simulator] over HTTP.
type Client struct {
	base    string
	http    *http.Client
	secrets []string
}

var _ origin.Gateway = (*Client)(nil)

// NewClient makes a client. A call that takes longer than the time-out has an unknown outcome; webhooks may be signed
// with any of the secrets.
func NewClient(base string, timeout time.Duration, webhookSecrets []string) *Client {
	transport := &http.Transport{MaxIdleConns: 256, MaxIdleConnsPerHost: 256, IdleConnTimeout: 60 * time.Second}
	return &Client{
		base:    strings.TrimSuffix(base, "/"),
		http:    &http.Client{Timeout: timeout, Transport: transport},
		secrets: webhookSecrets,
	}
}

// Close ends the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Name is [Provider].
func (c *Client) Name() string { return Provider }

// CreateIntent opens a payment without charging.
func (c *Client) CreateIntent(ctx context.Context, key string, n origin.NewIntent) (origin.Intent, error) {
	reply, err := c.call(ctx, http.MethodPost, "/v1/payment_intents", key, url.Values{
		"amount": {strconv.FormatInt(n.Amount, 10)}, "currency": {n.Currency}, "payment_method": {n.Method},
		"metadata[attempt]": {n.Attempt}, "metadata[hold]": {n.Hold},
	})
	if err != nil {
		return origin.Intent{}, fmt.Errorf("create intent: %w", err)
	}
	if reply.refusedForGood() {
		return origin.Intent{Attempt: n.Attempt, State: origin.IntentDeclined, Reason: reply.Error.Message}, nil
	}
	return reply.intent("create intent")
}

// Confirm charges.
func (c *Client) Confirm(ctx context.Context, key, id string) (origin.Intent, error) {
	reply, err := c.call(ctx, http.MethodPost, "/v1/payment_intents/"+url.PathEscape(id)+"/confirm", key, nil)
	if err != nil {
		return origin.Intent{}, fmt.Errorf("confirm intent: %w", err)
	}
	return reply.intent("confirm intent")
}

// Intent retrieves a payment. One that the simulator does not know is canceled: it was restarted, and what it forgot
// it never charges.
func (c *Client) Intent(ctx context.Context, id string) (origin.Intent, error) {
	reply, err := c.call(ctx, http.MethodGet, "/v1/payment_intents/"+url.PathEscape(id), "", nil)
	if err != nil {
		return origin.Intent{}, fmt.Errorf("retrieve intent: %w", err)
	}
	if reply.status == http.StatusNotFound {
		return origin.Intent{ID: id, State: origin.IntentCanceled}, nil
	}
	return reply.intent("retrieve intent")
}

// Cancel ends a payment that is not paid.
func (c *Client) Cancel(ctx context.Context, key, id string) (origin.Intent, error) {
	reply, err := c.call(ctx, http.MethodPost, "/v1/payment_intents/"+url.PathEscape(id)+"/cancel", key, nil)
	if err != nil {
		return origin.Intent{}, fmt.Errorf("cancel intent: %w", err)
	}
	if reply.status == http.StatusNotFound {
		return origin.Intent{ID: id, State: origin.IntentCanceled}, nil
	}
	return reply.intent("cancel intent")
}

// Refund gives a paid intent back, once per key.
func (c *Client) Refund(ctx context.Context, key, id string, amount int64) error {
	reply, err := c.call(ctx, http.MethodPost, "/v1/refunds", key, url.Values{
		"payment_intent": {id}, "amount": {strconv.FormatInt(amount, 10)},
	})
	switch {
	case err != nil:
		return fmt.Errorf("refund intent: %w", err)
	case reply.status/100 == 2, reply.Error.Code == "charge_already_refunded":
		return nil
	default:
		return fmt.Errorf("refund intent: %d %s", reply.status, reply.Error.Code)
	}
}

// Webhook verifies and reads a webhook.
func (c *Client) Webhook(header string, body []byte) (origin.Webhook, origin.Intent, error) {
	if err := signature.Verify(header, body, c.secrets, time.Now()); err != nil {
		return origin.Webhook{}, origin.Intent{}, fmt.Errorf("verify webhook: %w", err)
	}
	var event struct {
		ID, Type string
		Data     struct{ Object payment }
	}
	if err := json.Unmarshal(body, &event); err != nil {
		return origin.Webhook{}, origin.Intent{}, fmt.Errorf("read webhook: %w", err)
	}
	if event.ID == "" {
		return origin.Webhook{}, origin.Intent{}, errors.New("read webhook: no event id")
	}
	hook := origin.Webhook{ID: event.ID, Provider: Provider, Type: event.Type, Payload: body}
	if event.Data.Object.Object != "payment_intent" {
		return hook, origin.Intent{}, nil
	}
	hook.Intent = event.Data.Object.ID
	return hook, event.Data.Object.intent(), nil
}

// call makes one call. An answer of 5xx, 429, or 409 for a key in use leaves the outcome unknown, and so does none.
func (c *Client) call(ctx context.Context, method, path, key string, form url.Values) (reply, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		return reply{}, fmt.Errorf("make request: %w", err)
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return reply{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return reply{}, fmt.Errorf("read answer: %w", err)
	}
	got := reply{status: response.StatusCode}
	if err := json.Unmarshal(body, &got); err != nil {
		return reply{}, fmt.Errorf("read answer of status %d: %w", response.StatusCode, err)
	}
	if s := response.StatusCode; s >= 500 || s == http.StatusTooManyRequests || s == http.StatusConflict {
		return reply{}, fmt.Errorf("status %d: %s", s, got.Error.Message)
	}
	return got, nil
}
