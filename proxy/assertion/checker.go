package assertion

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// leeway is how far the clocks of foyer and the upstream may differ.
const leeway = 10 * time.Second

// Reasons not to believe an assertion.
var (
	errMissing = errors.New("there is no assertion, or more than one")
	errLong    = errors.New("it is too long")
	errType    = errors.New("it is another kind of token")
	errKey     = errors.New("its key is unknown")
	errRequest = errors.New("it was made for another request")
)

// Checker lets through only what foyer has forwarded. The zero value lets nothing through. It must not be copied after
// its first use.
type Checker struct {
	Upstream string            // this upstream, as the gate's configuration names it
	JWKS     string            // where foyer serves its public keys; empty: HS256 alone
	Secrets  map[string]string // by key id, as `foyer keys upstream` prints them; empty: EdDSA alone
	Client   *http.Client      // fetches the keys; nil: one that gives up after 5 s
	Refused  func(*http.Request, error)

	fetched keySet
}

// Wrap answers 403 to every request without a valid assertion, after Refused, if set, has been told why. The others
// reach the handler with the claims in their context; which of them need a pass is for the handler to say.
func (c *Checker) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		claims, err := c.Check(r)
		if err != nil {
			if c.Refused != nil {
				c.Refused(r, err)
			}
			http.Error(w, "this request did not come through the waiting room", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), claimsKey{}, claims)))
	})
}

// Check reads the assertion of a request as the server received it. An error says why it is not to be believed.
func (c *Checker) Check(r *http.Request) (Claims, error) {
	values := r.Header[Header]
	if len(values) != 1 {
		return Claims{}, errMissing
	}
	if len(values[0]) > maxLength {
		return Claims{}, errLong
	}
	var read wire
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg(), jwt.SigningMethodHS256.Alg()}),
		jwt.WithIssuer(issuer), jwt.WithAudience(c.Upstream), jwt.WithExpirationRequired(), jwt.WithIssuedAt(),
		jwt.WithStrictDecoding(), jwt.WithLeeway(leeway),
	)
	if _, err := parser.ParseWithClaims(values[0], &read, c.find(r.Context())); err != nil {
		return Claims{}, err
	}
	if read.Request != digest(r.Method, r.RequestURI) {
		return Claims{}, errRequest
	}
	return Claims{Gate: read.Gate, Visitor: read.Subject, Ticket: read.Ticket, Via: read.Via}, nil
}

// find gives the parser the key that a token names, of the kind that its algorithm needs.
func (c *Checker) find(ctx context.Context) jwt.Keyfunc {
	return func(token *jwt.Token) (any, error) {
		if token.Header["typ"] != tokenType {
			return nil, errType
		}
		id, _ := token.Header["kid"].(string)
		if token.Method.Alg() == jwt.SigningMethodHS256.Alg() {
			if secret := c.Secrets[id]; secret != "" {
				return []byte(secret), nil
			}
			return nil, errKey
		}
		if c.JWKS == "" {
			return nil, errKey
		}
		return c.fetched.get(ctx, c.Client, c.JWKS, id)
	}
}
