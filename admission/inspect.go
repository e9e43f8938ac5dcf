package admission

import (
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Inspection is what a token says, whether or not it is to be believed.
type Inspection struct {
	Algorithm string
	KeyID     string
	Token     Token
	Checked   bool      // against a keyring; without one nobody knows who has written it
	Rejected  Rejection // why it does not count, if it was checked; an expired one is not rejected for that
}

// Inspect reads a token for its operator. With a keyring it is checked as the room of the gate it names would do, by
// the time given; nil is no keyring. An error means that there is nothing to read.
func Inspect(raw string, keys *Keyring, leeway time.Duration, now time.Time) (Inspection, error) {
	if len(raw) > maxToken {
		return Inspection{}, fmt.Errorf("read token: it is longer than %d bytes", maxToken)
	}
	var read claims
	parsed, _, err := jwt.NewParser(jwt.WithStrictDecoding()).ParseUnverified(raw, &read)
	if parsed == nil || err != nil && !errors.Is(err, jwt.ErrTokenUnverifiable) {
		return Inspection{}, fmt.Errorf("read token: %w", err)
	}
	found := Inspection{Token: read.token("")}
	found.Algorithm, _ = parsed.Header["alg"].(string)
	found.KeyID, _ = parsed.Header["kid"].(string)
	if len(read.Gate) > 0 {
		found.Token.Gate = read.Gate[0]
	}
	if keys != nil {
		found.Checked = true
		_, found.Rejected = NewVerifier(found.Token.Gate, keys, leeway, func() time.Time { return now }).Verify(raw)
	}
	return found, nil
}
