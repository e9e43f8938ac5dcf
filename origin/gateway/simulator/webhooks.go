package simulator

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"go.uber.org/zap"

	"foyer/origin/gateway/signature"
)

const (
	firstRetry  = 200 * time.Millisecond
	longRetry   = 30 * time.Second
	maxTries    = 12 // some two minutes
	maxRepeated = 50 // copies that one call of redeliver may ask for
)

// event is one webhook: the same id and body however often it is sent.
type event struct {
	ID   string
	Body []byte
}

// tell sends a webhook about a payment.
func (s *Simulator) tell(kind string, about intent) {
	if s.settings.WebhookURL == "" {
		return
	}
	e := newEvent(kind, about)
	s.later(func(ctx context.Context) { s.deliver(ctx, e) })
}

// newEvent makes a webhook. Its id comes from what it says, so that sending it again is the same event.
func newEvent(kind string, about intent) event {
	id := "evt_" + about.ID + "_" + kind[len("payment_intent."):]
	return event{ID: id, Body: encode(map[string]any{
		"id": id, "object": "event", "type": kind, "created": about.Created.Unix(), "livemode": false,
		"data": map[string]any{"object": about.shape()},
	})}
}

// deliver sends until it is taken, with longer and longer pauses.
func (s *Simulator) deliver(ctx context.Context, e event) {
	pause := firstRetry
	for range maxTries {
		err := s.send(ctx, e)
		if err == nil {
			return
		}
		s.settings.Logger.Debug("webhook not taken", zap.String("event", e.ID), zap.Error(err))
		if !wait(ctx, pause) {
			return
		}
		pause = min(2*pause, longRetry)
	}
	s.settings.Logger.Warn("webhook given up", zap.String("event", e.ID))
}

func (s *Simulator) send(ctx context.Context, e event) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.settings.WebhookURL, bytes.NewReader(e.Body))
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Stripe-Signature", signature.Sign(e.Body, s.settings.WebhookSecret, time.Now()))
	response, err := s.settings.Client.Do(request)
	if err != nil {
		return fmt.Errorf("send webhook: %w", err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxBody)) // so that the connection can be used again
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("send webhook: %s", response.Status)
	}
	return nil
}

// redeliver sends the last webhook of the payments of a hold again, as often as asked, all at once.
func (s *Simulator) redeliver(w http.ResponseWriter, r *http.Request) {
	times, err := strconv.Atoi(r.FormValue("times"))
	if err != nil {
		times = 1
	}
	list, _ := s.book.list(r.FormValue("hold"), r.FormValue("attempt"))
	sent := 0
	for _, i := range list {
		kind := map[string]string{
			statusPaid: "payment_intent.succeeded", statusNoCard: "payment_intent.payment_failed",
			statusCanceled: "payment_intent.canceled",
		}[i.Status]
		if kind == "" {
			continue
		}
		for range min(times, maxRepeated) {
			s.tell(kind, i)
			sent++
		}
	}
	write(w, answer{status: http.StatusOK, body: encode(map[string]any{"sent": sent})})
}

// wait pauses; false when the context ended.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
