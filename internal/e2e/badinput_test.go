package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// embedded is foyer with a shop of its own and room for everybody.
const embedded = `
server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0"}
store: {sqlite: ":memory:"}
gates:
  - {name: shop, upstream: origin, capacity: 100}
origin:
  events:
    - {id: final, name: Final, capacity: 10, price: {amount: 12000, currency: eur}, max_per_buyer: 4}
`

func TestServe_BadInputGetsAnAnswerAndNever5xx(t *testing.T) {
	s := serve(t, embedded)
	const holds, waiting = "/api/events/final/holds", "/_foyer/shop/status"
	for _, tc := range []struct {
		name, method, path, body string
		headers                  []string
		want                     int
		problem                  string
	}{
		{"a garbage cookie", http.MethodGet, "/api/events/final", "", []string{"Cookie", "foyer-shop=garbage"}, 200, ""},
		{"a truncated token", http.MethodGet, waiting, "", []string{"Cookie", "foyer-shop=eyJhbGciOiJIUzI1NiJ9."}, 401, "no-ticket"},
		{"a token of 20 KB", http.MethodGet, waiting, "", []string{"Cookie", "foyer-shop=" + strings.Repeat("a", 20<<10)}, 401, "no-ticket"},
		{"a cookie of 64 KB", http.MethodGet, "/api/events/final", "", []string{"Cookie", "foyer-shop=" + strings.Repeat("a", 64<<10)}, 431, ""},
		{"bad JSON", http.MethodPost, holds, `{"quantity":`, nil, 400, "bad-request"},
		{"a number that is a word", http.MethodPost, holds, `{"quantity":"2"}`, nil, 400, "bad-request"},
		{"an unknown field", http.MethodPost, holds, `{"quantity":1,"price":0}`, nil, 400, "bad-request"},
		{"quantity -1", http.MethodPost, holds, `{"quantity":-1}`, nil, 422, "invalid-quantity"},
		{"quantity 0", http.MethodPost, holds, `{"quantity":0}`, nil, 422, "invalid-quantity"},
		{"quantity over the limit", http.MethodPost, holds, `{"quantity":5}`, nil, 422, "limit-exceeded"},
		{"an event that is not there", http.MethodGet, "/api/events/other", "", nil, 404, ""},
		{"a gate that is not there", http.MethodGet, "/_foyer/other/status", "", nil, 404, ""},
		{"an ambiguous path", http.MethodGet, "/api%2f..%2fevents", "", nil, 400, "bad-request"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			headers := tc.headers
			if tc.body != "" {
				headers = append(headers, "Content-Type", "application/json")
			}
			answer := newPerson(s.Edge, false).ask(t, tc.method, tc.path, tc.body, headers...).want(t, tc.want)
			if tc.problem != "" && !strings.Contains(answer.Text, `"urn:foyer:`+tc.problem+`"`) {
				t.Errorf("the answer is not the problem %q: %.300s", tc.problem, answer.Text)
			}
		})
	}
}
