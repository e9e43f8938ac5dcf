package admission

import (
	"bytes"
	"crypto/ed25519"
	"strings"
	"testing"
	"time"
)

var (
	oldKey  = Key{ID: "2026-10", Secret: bytes.Repeat([]byte("o"), MinSecret)}
	nextKey = Key{ID: "2026-11", Secret: bytes.Repeat([]byte("n"), MinSecret)}
	edKey   = Key{ID: "2026-12", Private: ed25519.NewKeyFromSeed(bytes.Repeat([]byte("e"), ed25519.SeedSize))}
)

func TestKeyring_RefusesUnfitKeys(t *testing.T) {
	for name, test := range map[string]struct {
		keys []Key
		want string
	}{
		"none":              {nil, "there is none"},
		"no id":             {[]Key{{Secret: oldKey.Secret}}, "no id"},
		"short secret":      {[]Key{{ID: "a", Secret: []byte("short")}}, "at least 32 bytes"},
		"short private":     {[]Key{{ID: "a", Private: []byte("short")}}, "64 bytes"},
		"both":              {[]Key{{ID: "a", Secret: oldKey.Secret, Private: edKey.Private}}, "both"},
		"the same id twice": {[]Key{oldKey, oldKey}, "used twice"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := NewKeyring(test.keys...); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("err = %v, want one that says %q", err, test.want)
			}
		})
	}
}

func TestKeyring_RotatesWithoutLosingATicket(t *testing.T) {
	keys, err := NewKeyring(oldKey)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	v := NewVerifier("final", keys, time.Second, func() time.Time { return now })
	before := mustSign(t, v, testToken(now))
	for _, step := range []struct {
		name string
		keys []Key
		want Rejection
	}{
		{"new key in front", []Key{nextKey, oldKey}, ""},
		{"another kind of key in front", []Key{edKey, nextKey, oldKey}, ""},
		{"old key dropped", []Key{edKey, nextKey}, RejectedUnknownKey},
	} {
		if err := keys.Replace(step.keys...); err != nil {
			t.Fatal(err)
		}
		if _, got := v.Verify(before); got != step.want {
			t.Errorf("%s: old token is rejected as %q, want %q", step.name, got, step.want)
		}
		if _, got := v.Verify(mustSign(t, v, testToken(now))); got != "" {
			t.Errorf("%s: new token is rejected as %q", step.name, got)
		}
	}
}

func TestKeyring_KeepsItsKeysWhenNewOnesAreUnfit(t *testing.T) {
	keys, _ := NewKeyring(oldKey)
	if err := keys.Replace(Key{ID: "bad"}); err == nil {
		t.Fatal("an unfit key is taken")
	}
	now := time.Now()
	v := NewVerifier("final", keys, time.Second, func() time.Time { return now })
	if _, got := v.Verify(mustSign(t, v, testToken(now))); got != "" {
		t.Errorf("the old key is gone: %q", got)
	}
}

func TestKeyring_ShowsThePublicHalvesOnly(t *testing.T) {
	keys, err := NewKeyring(oldKey, edKey)
	if err != nil {
		t.Fatal(err)
	}
	public := keys.Public()
	if len(public) != 1 || public[0].ID != edKey.ID || !public[0].Key.Equal(edKey.Private.Public()) {
		t.Errorf("Public = %v", public)
	}
}

// testToken is a queue token as it should be.
func testToken(now time.Time) Token {
	return Token{
		Use: UseQueue, Visitor: "somebody", Round: "round", Ticket: 7, Position: 3, Generation: 2,
		Issued: now, Expires: now.Add(time.Minute), Joined: now.Add(-time.Minute),
	}
}

func mustSign(t testing.TB, v *Verifier, token Token) string {
	t.Helper()
	signed, err := v.Sign(token)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}
