package services

import (
	"net/http"
	"strings"
	"testing"
)

// It refuses what Stripe does not describe: a test that passes against it says something.
func TestStripeMock_ChecksRequests(t *testing.T) {
	mock := StripeMock(t)
	for form, want := range map[string]int{
		"amount=500&currency=eur":             http.StatusOK,
		"amount=many&currency=eur":            http.StatusBadRequest,
		"currency=eur":                        http.StatusBadRequest,
		"amount=500&currency=eur&surprise=me": http.StatusBadRequest,
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, mock+"/v1/payment_intents", strings.NewReader(form))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer sk_test_123")
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s: status %d, want %d", form, response.StatusCode, want)
		}
	}
}
