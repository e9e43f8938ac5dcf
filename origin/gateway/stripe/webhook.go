package stripe

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"foyer/origin"
	"foyer/origin/gateway/signature"
)

// Webhook verifies and reads a webhook. Its type does not matter: what it shows of a payment does, and of anything else
// it tells nothing.
func (c *Client) Webhook(header string, body []byte) (origin.Webhook, origin.Intent, error) {
	if err := signature.Verify(header, body, c.secrets, time.Now()); err != nil {
		return origin.Webhook{}, origin.Intent{}, fmt.Errorf("verify webhook: %w", err)
	}
	var event struct {
		ID   string `json:"id"`
		Type string `json:"type"`
		Data struct {
			Object json.RawMessage `json:"object"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &event); err != nil {
		return origin.Webhook{}, origin.Intent{}, fmt.Errorf("read webhook: %w", err)
	}
	if event.ID == "" {
		return origin.Webhook{}, origin.Intent{}, errors.New("read webhook: no event id")
	}
	hook := origin.Webhook{ID: event.ID, Provider: Provider, Type: event.Type, Payload: body}
	if !isPayment(event.Data.Object) {
		return hook, origin.Intent{}, nil
	}
	var told payment
	if err := json.Unmarshal(event.Data.Object, &told); err != nil {
		return origin.Webhook{}, origin.Intent{}, fmt.Errorf("read payment of webhook: %w", err)
	}
	if told.ID == "" {
		return origin.Webhook{}, origin.Intent{}, errors.New("read payment of webhook: no id")
	}
	hook.Intent = told.ID
	return hook, told.intent(), nil
}

// isPayment looks at the kind of an object before anything else is read of it: an account has events of all kinds.
func isPayment(object json.RawMessage) bool {
	var kind struct {
		Object string `json:"object"`
	}
	return json.Unmarshal(object, &kind) == nil && kind.Object == "payment_intent"
}
