package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
)

// pagesYAML is the design's sample: a gate that names nothing but the pages of its event.
const pagesYAML = `
server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0"}
store: {sqlite: ":memory:", state_file: ""}
gates:
  - {name: final, match: {hosts: ["127.0.0.1"], paths: [/events/final/**]}, upstream: origin, capacity: 1, queue: {poll: {min: 100ms, max: 200ms}}}
origin:
  events:
    - {id: final, capacity: 10, price: {amount: 12000, currency: eur}}
    - {id: semi, capacity: 10, price: {amount: 12000, currency: eur}}
`

func TestGateOfAnEventsPage_GuardsItsCallsToo(t *testing.T) {
	a := startApp(t, pagesYAML)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	buyer := &http.Client{Jar: jar}
	ask := func(client *http.Client, method, path, body string) (int, map[string]any) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, a.Edge+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", "k1")
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		var answer map[string]any
		_ = json.Unmarshal(text, &answer) // a page is none
		return res.StatusCode, answer
	}
	if status, _ := ask(buyer, "GET", "/events/final", ""); status != http.StatusOK {
		t.Fatalf("the page is answered with %d", status)
	}
	if status, problem := ask(http.DefaultClient, "POST", "/api/events/final/holds", `{"quantity":1}`); status != http.StatusTooManyRequests {
		t.Errorf("a hold without a slot is answered with %d %v", status, problem)
	}
	if status, problem := ask(buyer, "GET", "/api/events/semi", ""); status != http.StatusNotFound {
		t.Errorf("the event of no gate is answered with %d %v", status, problem)
	}
	if status, answer := ask(buyer, "GET", "/api/events", ""); status != http.StatusOK {
		t.Errorf("the list is answered with %d %v", status, answer)
	}
	status, hold := ask(buyer, "POST", "/api/events/final/holds", `{"quantity":2}`)
	if status != http.StatusCreated {
		t.Fatalf("a hold is answered with %d %v", status, hold)
	}
	status, order := ask(buyer, "POST", "/api/holds/"+hold["hold"].(string)+"/pay", `{"payment_method":"pm_card_visa"}`)
	if status != http.StatusCreated {
		t.Fatalf("the payment is answered with %d %v", status, order)
	}
	if status, answer := ask(buyer, "GET", "/api/orders/"+order["order"].(string), ""); status != http.StatusOK {
		t.Errorf("the receipt is answered with %d %v", status, answer)
	}
}

func TestExplain_NamesTheCallsOfAShopsPages(t *testing.T) {
	for path, want := range map[string]string{
		"/api/events/final/holds": "path /api/events/final/**, which is no gate's own",
		"/api/holds/h1":           "path /api/holds/**, which is no gate's own",
		"/api/events/semi":        "no gate matches",
	} {
		out, err := command(t, pagesYAML, "explain", "GET", "http://127.0.0.1"+path)
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v, no %q in\n%s", path, err, want, out)
		}
	}
}
