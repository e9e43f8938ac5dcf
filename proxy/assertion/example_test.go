package assertion_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"foyer/proxy/assertion"
)

// An upstream lets through what foyer has forwarded, and asks for a slot where it sells.
func ExampleChecker() {
	const upstream = "http://shop.internal:3000"
	tokenSecret := []byte("0123456789abcdef0123456789abcdef")
	check := assertion.Checker{Upstream: upstream, Secrets: map[string]string{"2026-11": assertion.Secret(tokenSecret, upstream)}}
	shop := check.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		visit, _ := assertion.From(r.Context())
		if visit.Via == assertion.ViaBypass {
			http.Error(w, "please queue", http.StatusForbidden)
			return
		}
		fmt.Fprintf(w, "welcome, number %d", visit.Ticket)
	}))

	request := httptest.NewRequest(http.MethodGet, "/sale?seats=2", nil)
	answer := httptest.NewRecorder()
	shop.ServeHTTP(answer, request)
	fmt.Println(answer.Code) // past the waiting room

	signer := assertion.NewSigner([]assertion.Key{{ID: "2026-11", Secret: tokenSecret}}, upstream)
	signed, err := signer.Sign(assertion.Claims{Gate: "final", Visitor: "v", Ticket: 42, Via: assertion.ViaPass}, "GET", "/sale?seats=2")
	if err != nil {
		panic(err)
	}
	request.Header.Set(assertion.Header, signed) // as foyer does
	answer = httptest.NewRecorder()
	shop.ServeHTTP(answer, request)
	fmt.Println(answer.Code, answer.Body)
	// Output:
	// 403
	// 200 welcome, number 42
}
