package admission

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Tokens are read by golang-jwt and written here: to the byte what the library writes, without its way through maps and
// reflection, which cost most of what a newcomer costs. A test compares the two.

// wireSize is about the length of a token on the wire.
const wireSize = 512

// header is the first part of every token that a key signs.
func (k *key) header() []byte {
	text, err := json.Marshal(map[string]string{"alg": k.method.Alg(), "kid": k.id, "typ": "JWT"})
	if err != nil {
		panic(err) // strings can be written
	}
	return append(base64.RawURLEncoding.AppendEncode(nil, text), '.')
}

// sign makes the wire form of a token with the first key.
func (k *Keyring) sign(t Token) (string, error) {
	signer := k.keys.Load().signer
	body := t.appendJSON(make([]byte, 0, wireSize))
	wire := append(make([]byte, 0, 2*wireSize), signer.head...)
	wire = base64.RawURLEncoding.AppendEncode(wire, body)
	signature, err := signer.method.Sign(string(wire), signer.sign)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	wire = append(wire, '.')
	return string(base64.RawURLEncoding.AppendEncode(wire, signature)), nil
}

// appendJSON writes the claims of a token, as json.Marshal writes them.
func (t Token) appendJSON(b []byte) []byte {
	b = append(b, `{"iss":"`+issuer+`","aud":[`...)
	b = appendText(b, t.Gate)
	b = append(b, `],"sub":`...)
	b = appendText(b, t.Visitor)
	b = append(b, `,"use":`...)
	b = appendText(b, string(t.Use))
	b = append(b, `,"rnd":`...)
	b = appendText(b, t.Round)
	b = append(b, `,"tkt":`...)
	b = strconv.AppendUint(b, uint64(t.Ticket), 10)
	b = appendCount(b, `,"pos":`, t.Position)
	b = appendCount(b, `,"gen":`, t.Generation)
	b = appendInstant(b, `,"iat":`, t.Issued, "null")
	b = appendInstant(b, `,"exp":`, t.Expires, "null")
	b = appendInstant(b, `,"jat":`, t.Joined, "")
	b = appendInstant(b, `,"sat":`, t.Started, "")
	b = appendInstant(b, `,"due":`, t.Due, "")
	return append(b, '}')
}

// appendCount writes a number that is left out where it is 0.
func appendCount(b []byte, name string, n int) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(append(b, name...), int64(n), 10)
}

// appendInstant writes a time as an instant; none as what none says, and not at all where that says nothing.
func appendInstant(b []byte, name string, t time.Time, none string) []byte {
	switch {
	case !t.IsZero():
		return instant{t}.append(append(b, name...))
	case none != "":
		return append(append(b, name...), none...)
	}
	return b
}

// appendText writes a string in quotes. Ours need no escapes; who a visitor is may have come in an old token.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			text, err := json.Marshal(s)
			if err != nil {
				panic(err) // a string can be written
			}
			return append(b, text...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
