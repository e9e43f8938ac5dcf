package assertion

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Key signs assertions: a Private key, for EdDSA, or a Secret, of which one is derived for each upstream, for HS256.
type Key struct {
	ID      string
	Private ed25519.PrivateKey
	Secret  []byte
}

// Signer makes the assertions for one upstream.
type Signer struct {
	id       string
	method   jwt.SigningMethod
	key      any
	upstream jwt.ClaimStrings
}

// NewSigner makes one. Of the keys, the first that has a private key signs, or else the first; nil without keys.
func NewSigner(keys []Key, upstream string) *Signer {
	if len(keys) == 0 {
		return nil
	}
	s := &Signer{
		id: keys[0].ID, method: jwt.SigningMethodHS256, key: []byte(Secret(keys[0].Secret, upstream)),
		upstream: jwt.ClaimStrings{upstream},
	}
	for _, k := range keys {
		if k.Private != nil {
			s.id, s.method, s.key = k.ID, jwt.SigningMethodEdDSA, k.Private
			break
		}
	}
	return s
}

// Sign asserts claims of a request with this method and target, the latter as it is sent in the request line.
func (s *Signer) Sign(c Claims, method, target string) (string, error) {
	now := time.Now()
	token := jwt.NewWithClaims(s.method, wire{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: issuer, Audience: s.upstream, Subject: c.Visitor,
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(life)),
		},
		Gate: c.Gate, Ticket: c.Ticket, Via: c.Via, Request: digest(method, target),
	})
	token.Header["kid"], token.Header["typ"] = s.id, tokenType
	signed, err := token.SignedString(s.key)
	if err != nil {
		return "", fmt.Errorf("sign assertion: %w", err)
	}
	return signed, nil
}

// Secret is what an upstream verifies with where a secret of tokens.keys signs. Its bytes as they stand are the key of
// HS256. It says nothing of the secret that it is derived from, nor of another upstream's.
func Secret(tokens []byte, upstream string) string {
	mac := hmac.New(sha256.New, tokens)
	mac.Write([]byte("foyer assertion\n" + upstream))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
