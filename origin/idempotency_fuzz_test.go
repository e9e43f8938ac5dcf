package origin

import (
	"net/http"
	"strings"
	"testing"
)

// Whatever the header holds, a key that counts is one that a ledger can keep and compare as it is.
func FuzzIdempotencyKey(f *testing.F) {
	for _, seed := range []string{"", "a", "8e03978e-40d5-43dd-bc93-6894a57f9324", strings.Repeat("k", 256), "a\x00b", "ä", "a\r\nb", " a "} {
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, value string, twice bool) {
		values := []string{value}
		if twice {
			values = append(values, value)
		}
		key, given, refusal, detail := idempotencyKey(&http.Request{Header: http.Header{"Idempotency-Key": values}})
		switch {
		case refusal == NotRefused && key != "" && (!given || key != value || len(key) > longestKey || twice):
			t.Fatalf("%q twice %v: %q", value, twice, key)
		case refusal != NotRefused && (key != "" || detail == ""):
			t.Fatalf("%q is refused as %v, with the key %q and the detail %q", value, refusal, key, detail)
		case refusal == NotRefused && key == "" && given:
			t.Fatalf("%q is given and has no value", value)
		}
		for _, c := range []byte(key) {
			if c < ' ' || c > '~' {
				t.Fatalf("%q has the byte %#x", key, c)
			}
		}
	})
}
