package admission

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/golang-jwt/jwt/v5"
)

// MinSecret is the shortest secret of an HS256 key, in bytes: the length of its hash (RFC 7518, section 3.2).
const MinSecret = 32

// Key is one key for tokens: either a Secret, for HS256, or a Private key, for EdDSA.
type Key struct {
	ID      string
	Secret  []byte
	Private ed25519.PrivateKey
}

// PublicKey is the half of an EdDSA key that anybody may know.
type PublicKey struct {
	ID  string
	Key ed25519.PublicKey
}

// Keyring holds the keys of all gates. The first signs, all verify, and each only with its own algorithm: so a new key
// is put in front of the old one, and the old one dropped when the last token it signed has lost its use. It is safe
// for concurrent use.
type Keyring struct {
	keys atomic.Pointer[keys]
}

// keys is one immutable generation of a keyring.
type keys struct {
	signer *key
	byID   map[string]*key
	public []PublicKey
}

// key is a Key with its algorithm pinned.
type key struct {
	id     string
	method jwt.SigningMethod
	head   []byte // of every token that it signs
	sign   any
	verify any
}

// NewKeyring makes a keyring of at least one key.
func NewKeyring(list ...Key) (*Keyring, error) {
	k := &Keyring{}
	if err := k.Replace(list...); err != nil {
		return nil, err
	}
	return k, nil
}

// Replace exchanges all keys at once. Where one of them is not fit to be used, the old ones stay.
func (k *Keyring) Replace(list ...Key) error {
	if len(list) == 0 {
		return errors.New("read token keys: there is none")
	}
	next := &keys{byID: make(map[string]*key, len(list))}
	for _, one := range list {
		made, err := newKey(one)
		if err != nil {
			return fmt.Errorf("read token key %q: %w", one.ID, err)
		}
		if next.byID[one.ID] != nil {
			return fmt.Errorf("read token key %q: the id is used twice", one.ID)
		}
		made.head = made.header()
		next.byID[one.ID] = made
		if next.signer == nil {
			next.signer = made
		}
		if public, ok := made.verify.(ed25519.PublicKey); ok {
			next.public = append(next.public, PublicKey{ID: one.ID, Key: public})
		}
	}
	k.keys.Store(next)
	return nil
}

// Public lists the public halves of the EdDSA keys, for a JWKS.
func (k *Keyring) Public() []PublicKey { return k.keys.Load().public }

// newKey pins the algorithm of a key.
func newKey(k Key) (*key, error) {
	switch {
	case k.ID == "":
		return nil, errors.New("it has no id")
	case len(k.Secret) > 0 && len(k.Private) > 0:
		return nil, errors.New("it has both a secret and a private key")
	case len(k.Private) == ed25519.PrivateKeySize:
		public, _ := k.Private.Public().(ed25519.PublicKey)
		return &key{id: k.ID, method: jwt.SigningMethodEdDSA, sign: k.Private, verify: public}, nil
	case len(k.Private) > 0:
		return nil, fmt.Errorf("an ed25519 key has %d bytes, not %d", ed25519.PrivateKeySize, len(k.Private))
	case len(k.Secret) < MinSecret:
		return nil, fmt.Errorf("a secret needs at least %d bytes and has %d", MinSecret, len(k.Secret))
	default:
		return &key{id: k.ID, method: jwt.SigningMethodHS256, sign: k.Secret, verify: k.Secret}, nil
	}
}

// errUnknownKey and errForeignAlg say why no key verifies a token.
var (
	errUnknownKey = errors.New("the key id is unknown")
	errForeignAlg = errors.New("the algorithm is not that of the key")
)

// find is the jwt.Keyfunc: the key that a token names, provided that the token uses that key's algorithm.
func (k *Keyring) find(token *jwt.Token) (any, error) {
	id, _ := token.Header["kid"].(string)
	found := k.keys.Load().byID[id]
	switch {
	case found == nil:
		return nil, errUnknownKey
	case token.Method.Alg() != found.method.Alg():
		return nil, errForeignAlg
	}
	return found.verify, nil
}
