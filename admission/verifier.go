package admission

import (
	"errors"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Limits of a token: longer ones are refused before anything else is done with them.
const (
	maxToken   = 4096
	maxVisitor = 128
)

// Rejection names why a token does not count; empty: it does. They are values of the metric token_rejected_total.
type Rejection string

// The rejections.
const (
	RejectedTooLong    Rejection = "too_long"
	RejectedMalformed  Rejection = "malformed"
	RejectedUnknownKey Rejection = "unknown_key"
	RejectedAlgorithm  Rejection = "algorithm"
	RejectedSignature  Rejection = "signature"
	RejectedClaims     Rejection = "claims"
	RejectedGate       Rejection = "gate"
	RejectedFuture     Rejection = "future"
	RejectedExpired    Rejection = "expired" // for longer than queue.keep; the Room's judgement
)

// Rejections are all of them.
func Rejections() []Rejection {
	return []Rejection{
		RejectedTooLong, RejectedMalformed, RejectedUnknownKey, RejectedAlgorithm, RejectedSignature, RejectedClaims,
		RejectedGate, RejectedFuture, RejectedExpired,
	}
}

// rejections maps the library's errors, the first that matches counts. An expired token whose rest is right is none.
var rejections = []struct {
	err    error
	reason Rejection
}{
	{errUnknownKey, RejectedUnknownKey},
	{errForeignAlg, RejectedAlgorithm},
	{jwt.ErrTokenMalformed, RejectedMalformed},
	{jwt.ErrTokenSignatureInvalid, RejectedSignature},
	{jwt.ErrTokenUnverifiable, RejectedAlgorithm},
	{errIncomplete, RejectedClaims},
	{jwt.ErrTokenRequiredClaimMissing, RejectedClaims},
	{jwt.ErrTokenInvalidAudience, RejectedGate},
	{jwt.ErrTokenInvalidIssuer, RejectedClaims},
	{jwt.ErrTokenUsedBeforeIssued, RejectedFuture},
	{jwt.ErrTokenExpired, ""},
}

// Verifier checks the tokens of one gate. It is safe for concurrent use.
type Verifier struct {
	gate   string
	keys   *Keyring
	parser *jwt.Parser
}

// NewVerifier checks tokens of a gate by the clock given, which should be the store's. The leeway lets iat be that far
// in the future; exp is left to the caller to judge, without any.
func NewVerifier(gate string, keys *Keyring, leeway time.Duration, now func() time.Time) *Verifier {
	return &Verifier{gate: gate, keys: keys, parser: jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg(), jwt.SigningMethodEdDSA.Alg()}),
		jwt.WithIssuer(issuer),
		jwt.WithAudience(gate),
		jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(),
		jwt.WithLeeway(leeway),
		jwt.WithStrictDecoding(),
		jwt.WithTimeFunc(now),
	)}
}

// Verify reads a token. One that has expired and is right in everything else is answered too: whether that matters is
// for the caller to say, by Token.Expires.
func (v *Verifier) Verify(raw string) (Token, Rejection) {
	if len(raw) > maxToken {
		return Token{}, RejectedTooLong
	}
	var read claims
	_, err := v.parser.ParseWithClaims(raw, &read, v.keys.find)
	if reason := rejection(err); reason != "" {
		return Token{}, reason
	}
	return read.token(v.gate), ""
}

// Sign makes the wire form of a token of this gate.
func (v *Verifier) Sign(t Token) (string, error) {
	t.Gate = v.gate
	return v.keys.sign(t)
}

// rejection names the reason of an error of the library.
func rejection(err error) Rejection {
	if err == nil {
		return ""
	}
	for _, known := range rejections {
		if errors.Is(err, known.err) {
			return known.reason
		}
	}
	return RejectedMalformed
}
