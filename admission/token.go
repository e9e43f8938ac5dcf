package admission

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// issuer is the iss of every token.
const issuer = "foyer"

// Use says what a token proves.
type Use string

// The uses of a token.
const (
	UseQueue Use = "queue" // a ticket
	UsePass  Use = "pass"  // a lease
)

// Token is what a verified token says, or one to be signed is to say. Times are the store's.
type Token struct {
	Gate       string
	Use        Use
	Visitor    string // sub
	Round      string
	Ticket     Ticket
	Position   int       // the position last shown; 0: none yet
	Generation int       // of a pass: how often it has been renewed
	Issued     time.Time //
	Expires    time.Time //
	Joined     time.Time // when the ticket was given
	Started    time.Time // of a pass: when its lease began
	Due        time.Time // when its turn was expected to come, by the first estimate it was told; zero: none yet
}

// claims is a Token on the wire.
type claims struct {
	Issuer     string           `json:"iss"`
	Gate       jwt.ClaimStrings `json:"aud"`
	Visitor    string           `json:"sub"`
	Use        Use              `json:"use"`
	Round      string           `json:"rnd"`
	Ticket     Ticket           `json:"tkt"`
	Position   int              `json:"pos,omitempty"`
	Generation int              `json:"gen,omitempty"`
	Issued     *instant         `json:"iat"`
	Expires    *instant         `json:"exp"`
	Joined     *instant         `json:"jat,omitempty"`
	Started    *instant         `json:"sat,omitempty"`
	Due        *instant         `json:"due,omitempty"`
}

var _ jwt.ClaimsValidator = (*claims)(nil)

// instant is a NumericDate with milliseconds: the library's own keeps whole seconds, and a claim may last only one.
type instant struct{ time.Time }

func (i instant) MarshalJSON() ([]byte, error) { return i.append(nil), nil }

// append writes an instant.
func (i instant) append(b []byte) []byte {
	return strconv.AppendFloat(b, float64(i.UnixMilli())/1000, 'f', -1, 64)
}

func (i *instant) UnmarshalJSON(text []byte) error {
	var seconds float64
	if err := json.Unmarshal(text, &seconds); err != nil {
		return fmt.Errorf("read time: %w", err)
	}
	if seconds < 0 || seconds > 1<<40 {
		return errors.New("read time: out of range")
	}
	i.Time = time.UnixMilli(int64(seconds*1000 + 0.5))
	return nil
}

// at is t as an instant, nil for the zero time.
func at(t time.Time) *instant {
	if t.IsZero() {
		return nil
	}
	return &instant{t}
}

// when is the time of an instant, zero for nil.
func when(i *instant) time.Time {
	if i == nil {
		return time.Time{}
	}
	return i.Time
}

// date is an instant as the library knows it.
func date(i *instant) *jwt.NumericDate {
	if i == nil {
		return nil
	}
	return &jwt.NumericDate{Time: i.Time}
}

func (c *claims) GetExpirationTime() (*jwt.NumericDate, error) { return date(c.Expires), nil }
func (c *claims) GetIssuedAt() (*jwt.NumericDate, error)       { return date(c.Issued), nil }
func (c *claims) GetNotBefore() (*jwt.NumericDate, error)      { return nil, nil } //nolint:nilnil // the library asks so
func (c *claims) GetIssuer() (string, error)                   { return c.Issuer, nil }
func (c *claims) GetSubject() (string, error)                  { return c.Visitor, nil }
func (c *claims) GetAudience() (jwt.ClaimStrings, error)       { return c.Gate, nil }

// errIncomplete: a token without all that it must say.
var errIncomplete = errors.New("a claim is missing or out of range")

// Validate is called by the library after the signature and the registered claims have been checked.
func (c *claims) Validate() error {
	switch {
	case c.Issued == nil, c.Visitor == "", len(c.Visitor) > maxVisitor, c.Round == "", c.Ticket == 0:
		return errIncomplete
	case c.Use != UseQueue && c.Use != UsePass, c.Position < 0, c.Generation < 0:
		return errIncomplete
	}
	return nil
}

// claims are what a token says.
func (t Token) claims() *claims {
	return &claims{
		Issuer: issuer, Gate: jwt.ClaimStrings{t.Gate}, Visitor: t.Visitor, Use: t.Use, Round: t.Round, Ticket: t.Ticket,
		Position: t.Position, Generation: t.Generation,
		Issued: at(t.Issued), Expires: at(t.Expires), Joined: at(t.Joined), Started: at(t.Started), Due: at(t.Due),
	}
}

// token reads what claims say. They have been validated.
func (c *claims) token(gate string) Token {
	return Token{
		Gate: gate, Use: c.Use, Visitor: c.Visitor, Round: c.Round, Ticket: c.Ticket,
		Position: c.Position, Generation: c.Generation,
		Issued: when(c.Issued), Expires: when(c.Expires), Joined: when(c.Joined), Started: when(c.Started), Due: when(c.Due),
	}
}
