package origin

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestIdempotencyKey_IsOneUsableValue(t *testing.T) {
	cases := []struct {
		name   string
		values []string
		given  bool
		want   Refusal
	}{
		{"none", nil, false, NotRefused},
		{"empty", []string{""}, false, NotRefused},
		{"usual", []string{"5f0c-11"}, true, NotRefused},
		{"longest", []string{strings.Repeat("k", longestKey)}, true, NotRefused},
		{"too long", []string{strings.Repeat("k", longestKey+1)}, true, keyInvalid},
		{"control character", []string{"a\x01b"}, true, keyInvalid},
		{"tab", []string{"a\tb"}, true, keyInvalid},
		{"not ASCII", []string{"schlüssel"}, true, keyInvalid},
		{"two values", []string{"a", "b"}, true, keyInvalid},
		{"the same twice", []string{"a", "a"}, true, keyInvalid},
	}
	for _, c := range cases {
		r := httptest.NewRequest("POST", "/", nil)
		r.Header["Idempotency-Key"] = c.values
		_, given, refusal, _ := idempotencyKey(r)
		if given != c.given || refusal != c.want {
			t.Errorf("%s: got %v %q, want %v %q", c.name, given, refusal, c.given, c.want)
		}
	}
}

func TestDerive_IsTheSameForTheSameKeyOnly(t *testing.T) {
	key := Key{Buyer: "b", Route: "pay", Key: "k"}
	seen := map[string]bool{derive("a_", key, 0): true}
	if !seen[derive("a_", key, 0)] {
		t.Fatal("the same key is another id")
	}
	for _, other := range []Key{{"b2", "pay", "k"}, {"b", "hold", "k"}, {"b", "pay", "k2"}, {"bpay", "", "k"}} {
		if id := derive("a_", other, 0); seen[id] {
			t.Errorf("%+v is the id of another", other)
		} else {
			seen[id] = true
		}
	}
	if seen[derive("a_", key, 1)] {
		t.Error("another generation is the same id")
	}
}
