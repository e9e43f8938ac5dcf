package assertion

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Header carries the assertion.
const Header = "X-Foyer-Assertion"

const (
	issuer    = "foyer"
	tokenType = "foyer-assertion+jwt" // explicit, so that no other token of the same key passes for one (RFC 8725, 3.11)
	life      = 30 * time.Second
	maxLength = 2 << 10 // of an assertion, in bytes
)

// Claims is what an assertion says of a request.
type Claims struct {
	Gate    string
	Visitor string // empty where nobody is known
	Ticket  uint64 // 0 without one
	Via     Via
}

// Via is why a request was let through.
type Via string

// The ways through a gate.
const (
	ViaPass   Via = "pass"   // the visitor holds a slot
	ViaOpen   Via = "open"   // everyone passes at the moment: the gate is off or in shadow, or open without its store
	ViaBypass Via = "bypass" // a rule of the gate needs no slot for it
)

// wire is an assertion as it is signed.
type wire struct {
	jwt.RegisteredClaims
	Gate    string `json:"gate"`
	Ticket  uint64 `json:"tkt,omitempty"`
	Via     Via    `json:"via"`
	Request string `json:"req"`
}

// claimsKey is where claims travel in a context.
type claimsKey struct{}

// From is what the assertion of a request said, where a [Checker] has let it through.
func From(ctx context.Context) (Claims, bool) {
	c, ok := ctx.Value(claimsKey{}).(Claims)
	return c, ok
}

// digest binds an assertion to a method and a request target. Of fixed length, it keeps long targets out of the header.
func digest(method, target string) string {
	sum := sha256.Sum256([]byte(method + " " + target))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
