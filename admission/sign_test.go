package admission

import (
	"crypto/ed25519"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// library signs as golang-jwt does, which is the reference.
func library(t *testing.T, k *key, token Token) string {
	t.Helper()
	made := jwt.NewWithClaims(k.method, token.claims())
	made.Header["kid"] = k.id
	signed, err := made.SignedString(k.sign)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// anyToken is a token with or without each of its parts.
func anyToken(dice *rand.Rand) Token {
	text := func() string {
		return []string{"final", "", "a<b>&c", `"quoted" \ back`, "Zoë Δ\u2028", "\x00\n\x7f", "broken \xff", strings.Repeat("x", 200)}[dice.IntN(8)]
	}
	when := func() time.Time {
		if dice.IntN(4) == 0 {
			return time.Time{}
		}
		return time.UnixMilli(dice.Int64N(1 << 42)).Add(time.Duration(dice.IntN(1e6)))
	}
	return Token{
		Gate: text(), Use: Use(text()), Visitor: text(), Round: text(), Ticket: Ticket(dice.Uint64()),
		Position: dice.IntN(3) * dice.IntN(1e9), Generation: dice.IntN(2) * dice.IntN(100),
		Issued: when(), Expires: when(), Joined: when(), Started: when(), Due: when(),
	}
}

func TestSign_WritesWhatTheLibraryWrites(t *testing.T) {
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	secret := []byte(strings.Repeat("s", MinSecret))
	dice := rand.New(rand.NewPCG(1, 2))
	for _, one := range []Key{{ID: "a", Secret: secret}, {ID: `k"<é>`, Secret: secret}, {ID: "b", Private: private}} {
		ring, err := NewKeyring(one)
		if err != nil {
			t.Fatal(err)
		}
		for range 500 {
			token := anyToken(dice)
			got, err := ring.sign(token)
			if want := library(t, ring.keys.Load().signer, token); err != nil || got != want {
				t.Fatalf("%+v is written as\n%s, the library has\n%s (%v)", token, got, want, err)
			}
		}
	}
}

func BenchmarkSign(b *testing.B) {
	ring, err := NewKeyring(Key{ID: "a", Secret: []byte(strings.Repeat("s", MinSecret))})
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	token := Token{Gate: "final", Use: UseQueue, Visitor: "ABCDEFGHIJKLMNOPQRSTUVWXYZ", Round: "ABCDEFGHIJKLMNOPQRSTUVWXYZ", Ticket: 100_000_000, Position: 4711, Issued: now, Expires: now.Add(time.Hour), Joined: now}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ring.sign(token); err != nil {
			b.Fatal(err)
		}
	}
}
