package admission

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// verifierAt is a verifier of the gate "final" at one instant.
func verifierAt(t testing.TB, now time.Time) *Verifier {
	t.Helper()
	keys, err := NewKeyring(oldKey, edKey)
	if err != nil {
		t.Fatal(err)
	}
	return NewVerifier("final", keys, 5*time.Second, func() time.Time { return now })
}

func TestVerify_ReadsWhatWasSigned(t *testing.T) {
	now := time.UnixMilli(1_796_000_000_123)
	v := verifierAt(t, now)
	want := testToken(now)
	want.Gate, want.Due = "final", now.Add(time.Hour)
	got, rejected := v.Verify(mustSign(t, v, want))
	if rejected != "" {
		t.Fatalf("rejected: %s", rejected)
	}
	for name, pair := range map[string][2]time.Time{
		"Issued": {got.Issued, want.Issued}, "Expires": {got.Expires, want.Expires},
		"Joined": {got.Joined, want.Joined}, "Due": {got.Due, want.Due},
	} {
		if !pair[0].Equal(pair[1]) {
			t.Errorf("%s = %v, want %v", name, pair[0], pair[1])
		}
	}
	got.Issued, got.Expires, got.Joined, got.Due = want.Issued, want.Expires, want.Joined, want.Due
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestVerify_AnswersAnExpiredToken(t *testing.T) {
	now := time.Now()
	v := verifierAt(t, now)
	old := testToken(now.Add(-time.Hour))
	if got, rejected := v.Verify(mustSign(t, v, old)); rejected != "" || got.Ticket != old.Ticket || !got.Expires.Before(now) {
		t.Errorf("got %+v, %q", got, rejected)
	}
}

func TestVerify_RefusesForgeries(t *testing.T) {
	now := time.Now()
	v := verifierAt(t, now)
	good := mustSign(t, v, testToken(now))
	parts := strings.Split(good, ".")
	with := func(key string, value any) string {
		return forged(t, now, jwt.SigningMethodHS256, oldKey.ID, oldKey.Secret, key, value)
	}
	for name, test := range map[string]struct {
		raw  string
		want Rejection
	}{
		"empty":              {"", RejectedMalformed},
		"invented":           {"let me in", RejectedMalformed},
		"truncated":          {good[:len(good)-3], RejectedSignature},
		"without signature":  {parts[0] + "." + parts[1] + ".", RejectedSignature},
		"64 KB":              {strings.Repeat("x", 64<<10), RejectedTooLong},
		"changed spare bits": {spareBits(good), RejectedMalformed},
		"of another gate":    {with("aud", "semifinal"), RejectedGate},
		"of no gate":         {with("aud", nil), RejectedClaims},
		"of another issuer":  {with("iss", "faker"), RejectedClaims},
		"no exp":             {with("exp", nil), RejectedClaims},
		"no iat":             {with("iat", nil), RejectedClaims},
		"iat in the future":  {with("iat", now.Add(time.Minute).Unix()), RejectedFuture},
		"exp is text":        {with("exp", "tomorrow"), RejectedMalformed},
		"exp beyond all":     {with("exp", 1e300), RejectedMalformed},
		"no sub":             {with("sub", nil), RejectedClaims},
		"no ticket":          {with("tkt", 0), RejectedClaims},
		"negative ticket":    {with("tkt", -1), RejectedMalformed},
		"no round":           {with("rnd", ""), RejectedClaims},
		"unknown use":        {with("use", "admin"), RejectedClaims},
		"alg none":           {forged(t, now, jwt.SigningMethodNone, oldKey.ID, jwt.UnsafeAllowNoneSignatureType, "", nil), RejectedSignature},
		"HS384":              {forged(t, now, jwt.SigningMethodHS384, oldKey.ID, oldKey.Secret, "", nil), RejectedSignature},
		"another secret":     {forged(t, now, jwt.SigningMethodHS256, oldKey.ID, nextKey.Secret, "", nil), RejectedSignature},
		"unknown kid":        {forged(t, now, jwt.SigningMethodHS256, "nobody", oldKey.Secret, "", nil), RejectedUnknownKey},
		"no kid":             {forged(t, now, jwt.SigningMethodHS256, "", oldKey.Secret, "", nil), RejectedUnknownKey},
		"HS256 with the public half of an EdDSA key": {
			forged(t, now, jwt.SigningMethodHS256, edKey.ID, []byte(edKey.Private[32:]), "", nil), RejectedAlgorithm},
		"EdDSA under the id of a secret": {
			forged(t, now, jwt.SigningMethodEdDSA, oldKey.ID, edKey.Private, "", nil), RejectedAlgorithm},
	} {
		t.Run(name, func(t *testing.T) {
			if got, rejected := v.Verify(test.raw); rejected != test.want || got != (Token{}) {
				t.Errorf("got %+v, %q; want a rejection as %q", got, rejected, test.want)
			}
		})
	}
}

// forged is a token with one claim changed (nil: left out), signed by any means.
func forged(t testing.TB, now time.Time, method jwt.SigningMethod, kid string, key any, claim string, value any) string {
	t.Helper()
	good := testToken(now)
	good.Gate = "final"
	text, err := json.Marshal(good.claims())
	if err != nil {
		t.Fatal(err)
	}
	all := jwt.MapClaims{}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if all[claim] = value; value == nil {
		delete(all, claim)
	}
	token := jwt.NewWithClaims(method, all)
	if kid != "" {
		token.Header["kid"] = kid
	}
	signed, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// spareBits changes the bits of the last character that the decoder of a lenient library drops.
func spareBits(token string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, token[len(token)-1])
	return token[:len(token)-1] + alphabet[last^1:last^1+1]
}

func FuzzVerify(f *testing.F) {
	now := time.UnixMilli(1_796_000_000_000)
	v := verifierAt(f, now)
	good := mustSign(f, v, testToken(now))
	for _, raw := range []string{"", good, good[:40], spareBits(good), "a.b.c", "...", strings.Repeat("ey", 3000)} {
		f.Add(raw)
	}
	f.Add(base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + ".e30.")
	f.Fuzz(func(t *testing.T, raw string) {
		got, rejected := v.Verify(raw)
		if (rejected == "") != (got != Token{}) {
			t.Fatalf("a token that is rejected as %q says %+v", rejected, got)
		}
		if rejected == "" && raw != good && !strings.HasPrefix(raw, good[:strings.LastIndexByte(good, '.')]) {
			t.Fatalf("a token nobody signed counts: %q", raw)
		}
	})
}
