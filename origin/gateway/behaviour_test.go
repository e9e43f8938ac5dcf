// Package gateway_test runs the clients of all payment providers through the same steps, against the simulator: it speaks
// Stripe's language, so that what holds for the one must hold for the other.
package gateway_test

import (
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"foyer/origin"
	"foyer/origin/gateway/simulator"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConfirm_ChargesOncePerKey(t *testing.T) {
	each(t, patient, func(t *testing.T, b *bench) {
		intent := b.create(t, "a1", "pm_card_visa")
		if intent.State != origin.IntentNew || intent.Attempt != "a1" || intent.Amount != 500 {
			t.Fatalf("created %+v", intent)
		}
		for range 5 {
			paid, err := b.Confirm(t.Context(), "a1:confirm", intent.ID)
			if err != nil || paid.State != origin.IntentPaid || paid.Charge == "" {
				t.Fatalf("confirm: %+v, %v", paid, err)
			}
		}
		if paid, err := b.Confirm(t.Context(), "another key", intent.ID); err != nil || paid.State != origin.IntentPaid {
			t.Fatalf("a second confirmation shows the paid intent: %+v, %v", paid, err)
		}
		if paid, err := b.Cancel(t.Context(), "a1:cancel", intent.ID); err != nil || paid.State != origin.IntentPaid {
			t.Fatalf("a paid intent answers as it stands: %+v, %v", paid, err)
		}
		if got := b.charged(t); got != (simulator.Totals{Charges: 1, Captured: 500}) {
			t.Fatalf("charged %+v", got)
		}
	})
}

func TestCreate_WithOneKeyIsOneIntent(t *testing.T) {
	each(t, patient, func(t *testing.T, b *bench) {
		if one, two := b.create(t, "a1", "pm_card_visa"), b.create(t, "a1", "pm_card_visa"); one.ID != two.ID {
			t.Fatalf("two intents: %s, %s", one.ID, two.ID)
		}
		_, err := b.CreateIntent(t.Context(), "a1:create", origin.NewIntent{
			Attempt: "a1", Amount: 700, Currency: "eur", Method: "pm_card_visa",
		})
		if err == nil {
			t.Fatal("a key used with other parameters says nothing of the payment")
		}
	})
}

func TestConfirm_Declined(t *testing.T) {
	each(t, patient, func(t *testing.T, b *bench) {
		intent := b.create(t, "a1", "pm_card_declined")
		declined, err := b.Confirm(t.Context(), "a1:confirm", intent.ID)
		if err != nil || declined.State != origin.IntentDeclined || declined.Reason == "" || declined.ID != intent.ID {
			t.Fatalf("got %+v, %v", declined, err)
		}
		for range 2 {
			canceled, err := b.Cancel(t.Context(), "a1:cancel", intent.ID)
			if err != nil || canceled.State != origin.IntentCanceled {
				t.Fatalf("got %+v, %v", canceled, err)
			}
		}
		if again, err := b.Confirm(t.Context(), "a1:confirm2", intent.ID); err != nil || again.State != origin.IntentCanceled {
			t.Fatalf("a canceled intent was confirmed: %+v, %v", again, err)
		}
		if got := b.charged(t); got.Charges != 0 {
			t.Fatalf("charged %+v", got)
		}
	})
}

func TestConfirm_TimeoutChargesAndNeverAnswers(t *testing.T) {
	each(t, 3*time.Second, func(t *testing.T, b *bench) {
		intent := b.create(t, "a1", "pm_card_timeout")
		if _, err := b.Confirm(t.Context(), "a1:confirm", intent.ID); err == nil {
			t.Fatal("it answered")
		}
		if found, err := b.Intent(t.Context(), intent.ID); err != nil || found.State != origin.IntentPaid {
			t.Fatalf("got %+v, %v", found, err)
		}
		if again, err := b.Confirm(t.Context(), "a1:confirm", intent.ID); err != nil || again.State != origin.IntentPaid {
			t.Fatalf("the same key is told: %+v, %v", again, err)
		}
		if got := b.charged(t); got.Charges != 1 {
			t.Fatalf("charged %+v", got)
		}
	})
}

func TestConfirm_ErrorIsReplayedAndChargesNothing(t *testing.T) {
	each(t, patient, func(t *testing.T, b *bench) {
		intent := b.create(t, "a1", "pm_card_error")
		for range 2 {
			if _, err := b.Confirm(t.Context(), "a1:confirm", intent.ID); err == nil {
				t.Fatal("it succeeded")
			}
		}
		if found, err := b.Intent(t.Context(), intent.ID); err != nil || found.State != origin.IntentNew {
			t.Fatalf("got %+v, %v", found, err)
		}
	})
}

func TestCancel_WhileChargingChangesNothing(t *testing.T) {
	each(t, patient, func(t *testing.T, b *bench) {
		intent := b.create(t, "a1", "pm_card_slow")
		var first sync.WaitGroup
		first.Go(func() {
			if paid, err := b.Confirm(t.Context(), "a1:confirm", intent.ID); err != nil || paid.State != origin.IntentPaid {
				t.Errorf("the slow one: %+v, %v", paid, err)
			}
		})
		defer first.Wait()
		for found := intent; found.State != origin.IntentOpen; {
			var err error
			if found, err = b.Intent(t.Context(), intent.ID); err != nil || found.State == origin.IntentPaid {
				t.Fatalf("awaiting the charge: %+v, %v", found, err)
			}
		}
		if _, err := b.Confirm(t.Context(), "a1:confirm", intent.ID); err == nil {
			t.Error("a key in use says nothing of the payment")
		}
		if still, err := b.Cancel(t.Context(), "a1:cancel", intent.ID); err != nil || still.State != origin.IntentOpen {
			t.Errorf("an intent in progress was canceled: %+v, %v", still, err)
		}
	})
}

func TestRefund_OncePerKeyAndNeverMoreThanWasPaid(t *testing.T) {
	each(t, patient, func(t *testing.T, b *bench) {
		intent := b.create(t, "a1", "pm_card_visa")
		if err := b.Refund(t.Context(), "a1:refund", intent.ID, 500); err == nil {
			t.Fatal("refunded what was not paid")
		}
		if _, err := b.Confirm(t.Context(), "a1:confirm", intent.ID); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() { _ = b.Refund(t.Context(), "a1:refund", intent.ID, 500) }) // some meet a key in use
		}
		all.Wait()
		for _, key := range []string{"a1:refund", "forgotten key"} {
			if err := b.Refund(t.Context(), key, intent.ID, 500); err != nil {
				t.Fatalf("refund again with %q: %v", key, err)
			}
		}
		if got := b.charged(t); got != (simulator.Totals{Charges: 1, Captured: 500, Refunds: 1, Refunded: 500}) {
			t.Fatalf("totals %+v", got)
		}
	})
}

func TestWebhook_TellsOfASuccessThatNoAnswerShowed(t *testing.T) {
	each(t, patient, func(t *testing.T, b *bench) {
		intent := b.create(t, "a1", "pm_card_3ds")
		if open, err := b.Confirm(t.Context(), "a1:confirm", intent.ID); err != nil || open.State != origin.IntentOpen || open.Action == "" {
			t.Fatalf("got %+v, %v", open, err)
		}
		came := <-b.webhooks
		hook, paid, err := b.Webhook(came.header, came.body)
		if err != nil || hook.Type != "payment_intent.succeeded" || hook.Intent != intent.ID || hook.Provider != b.Name() ||
			paid.State != origin.IntentPaid || paid.Attempt != "a1" || paid.Amount != 500 || paid.Charge == "" || paid.Action != "" {
			t.Fatalf("got %+v, %+v, %v", hook, paid, err)
		}
		if _, _, err := b.Webhook(came.header, append(came.body, ' ')); err == nil {
			t.Fatal("a changed body was believed")
		}
	})
}

func TestCreate_UnknownMethodIsDeclinedWithoutAnIntent(t *testing.T) {
	each(t, patient, func(t *testing.T, b *bench) {
		if intent := b.create(t, "a1", "pm_card_stolen"); intent.State != origin.IntentDeclined || intent.ID != "" || intent.Reason == "" {
			t.Fatalf("got %+v", intent)
		}
	})
}
