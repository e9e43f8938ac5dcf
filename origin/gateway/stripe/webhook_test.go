package stripe

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v82/webhook"

	"foyer/origin"
	"foyer/origin/gateway/signature"
)

const hookSecret = "whsec_test"

// fixture is a webhook as Stripe sends it.
func fixture(t *testing.T, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// signed has stripe-go sign a body.
func signed(body []byte, secret string, at time.Time) string {
	return webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: body, Secret: secret, Timestamp: at}).Header
}

func receiver(t *testing.T) *Client {
	return connect(t, Settings{SecretKey: "sk_test_1", WebhookSecrets: []string{"whsec_old", hookSecret}, Timeout: time.Second})
}

// F6: unknown fields and other versions of the API.
func TestWebhook_IsReadWhateverItsVersion(t *testing.T) {
	c := receiver(t)
	for name, want := range map[string]struct {
		kind   string
		intent origin.Intent
	}{
		"succeeded.json": {"payment_intent.succeeded", origin.Intent{
			ID: "pi_3Q1", Attempt: "a_1", State: origin.IntentPaid, Charge: "ch_3Q1", Amount: 12000}},
		"succeeded_2020.json": {"payment_intent.succeeded", origin.Intent{
			ID: "pi_1H1", Attempt: "a_1", State: origin.IntentPaid, Charge: "ch_1H1", Amount: 12000}},
		"succeeded_2031.json": {"payment_intent.succeeded", origin.Intent{
			ID: "pi_9Z1", Attempt: "a_1", State: origin.IntentPaid, Charge: "ch_9Z1", Amount: 12000}},
		"failed.json": {"payment_intent.payment_failed", origin.Intent{
			ID: "pi_3Q1", Attempt: "a_1", State: origin.IntentDeclined, Amount: 12000, Reason: "Your card was declined."}},
		"canceled.json": {"payment_intent.canceled", origin.Intent{
			ID: "pi_3Q1", Attempt: "a_1", State: origin.IntentCanceled, Amount: 12000}},
		"stranger.json":        {"payment_intent.succeeded", origin.Intent{ID: "pi_3X1", State: origin.IntentPaid, Charge: "ch_3X1", Amount: 999}},
		"charge_refunded.json": {"charge.refunded", origin.Intent{}},
		"thin.json":            {"v2.core.event_destination.ping", origin.Intent{}},
	} {
		t.Run(name, func(t *testing.T) {
			body := fixture(t, name)
			hook, intent, err := c.Webhook(signed(body, hookSecret, time.Now()), body)
			if err != nil || intent != want.intent {
				t.Fatalf("got %+v, %v", intent, err)
			}
			if hook.ID == "" || hook.Provider != Provider || hook.Type != want.kind || hook.Intent != intent.ID || string(hook.Payload) != string(body) {
				t.Errorf("hook %s %s %s %s", hook.ID, hook.Provider, hook.Type, hook.Intent)
			}
		})
	}
}

// F7, as stripe-go signs.
func TestWebhook_IsBelievedOnlyWhenSigned(t *testing.T) {
	c, now := receiver(t), time.Now()
	body := fixture(t, "succeeded.json")
	right := signed(body, hookSecret, now)
	for name, tc := range map[string]struct {
		header string
		body   []byte
		want   error
	}{
		"signed":                     {right, body, nil},
		"signed with the old secret": {signed(body, "whsec_old", now), body, nil},
		"signed by a stranger":       {signed(body, "whsec_wrong", now), body, signature.ErrMismatch},
		"too old":                    {signed(body, hookSecret, now.Add(-302*time.Second)), body, signature.ErrTime},
		"from the future":            {signed(body, hookSecret, now.Add(302*time.Second)), body, signature.ErrTime},
		"changed":                    {right, append([]byte(" "), body...), signature.ErrMismatch},
		"not signed":                 {"", body, signature.ErrMalformed},
		"one of two is right":        {right + ",v1=00", body, nil},
		"another scheme beside it":   {right + ",v0=00", body, nil},
		"another scheme alone": {webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{
			Payload: body, Secret: hookSecret, Timestamp: now, Scheme: "v0"}).Header, body, signature.ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := c.Webhook(tc.header, tc.body); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}

func TestWebhook_ThatCannotBeReadIsRefused(t *testing.T) {
	c := receiver(t)
	for _, text := range []string{
		``, `null`, `[]`, `{"id":5}`, `{"type":"payment_intent.succeeded"}`,
		`{"id":"evt_1","data":{"object":{"object":"payment_intent","status":"succeeded"}}}`,
		`{"id":"evt_1","data":{"object":{"object":"payment_intent","id":"pi_1","amount":"many"}}}`,
	} {
		body := []byte(text)
		if hook, intent, err := c.Webhook(signed(body, hookSecret, time.Now()), body); err == nil {
			t.Errorf("%s: got %+v, %+v", text, hook, intent)
		}
	}
}
