package origin

import (
	"encoding/json"
	"net/http/httptest"
	"testing"
)

func TestProblem_EveryRefusalHasAForm(t *testing.T) {
	for refusal, form := range refusalForms {
		o := problem(refusal, map[string]any{"hold": "h_1"})
		var body struct {
			Type, Title, Hold string
			Status            int
		}
		if err := json.Unmarshal(o.Body, &body); err != nil {
			t.Fatal(err)
		}
		if body.Type != "urn:foyer:"+string(refusal) || body.Title == "" || body.Status != form.status || body.Hold != "h_1" {
			t.Errorf("%s: got %+v", refusal, body)
		}
	}
}

// TestProblem_OnlyDeterminedAnswersAreKept is the line of the idempotency table that says what is stored.
func TestProblem_OnlyDeterminedAnswersAreKept(t *testing.T) {
	kept := map[Refusal]bool{SoldOut: true, LimitExceeded: true, HoldIsExpired: true, AlreadyPaid: true, Declined: true}
	for refusal := range refusalForms {
		if got := problem(refusal, nil).final; got != kept[refusal] {
			t.Errorf("%s: kept %v", refusal, got)
		}
	}
}

func TestSend_NothingIsKeptByACache(t *testing.T) {
	w := httptest.NewRecorder()
	send(w, success(200, map[string]int{"n": 1}))
	if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Fatalf("headers %v", w.Header())
	}
}
