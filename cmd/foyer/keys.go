package main

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"

	"go.uber.org/zap"

	"foyer/admission"
	"foyer/config"
	"foyer/proxy/assertion"
)

// tokenKeys are the keys that sign tokens, read from the configuration as often as it changes.
type tokenKeys struct {
	own *admission.Key // made for the life of this process, while the file named none
}

// read reads the keys of a configuration. Where it names none, one is made for the life of this process; what that one
// has signed counts on when the file names keys later.
func (t *tokenKeys) read(settings config.Tokens, logger *zap.Logger) ([]admission.Key, error) {
	if len(settings.Keys) == 0 && t.own == nil {
		logger.Warn("no tokens.keys: places in line do not survive a restart")
		t.own = &admission.Key{ID: "process-" + rand.Text(), Secret: []byte(rand.Text() + rand.Text())}
	}
	keys := make([]admission.Key, len(settings.Keys), len(settings.Keys)+1)
	for i, key := range settings.Keys {
		keys[i].ID = key.ID
		if key.Ed25519File == "" {
			keys[i].Secret = []byte(key.Secret)
			continue
		}
		private, err := readEd25519(key.Ed25519File)
		if err != nil {
			return nil, misuse{fmt.Errorf("read key %s: %w", key.ID, err)}
		}
		keys[i].Private = private
	}
	if t.own != nil {
		keys = append(keys, *t.own)
	}
	return keys, nil
}

// buyerKeys are derived from all keys of tokens; the first signs.
func buyerKeys(keys []admission.Key) (key []byte, old [][]byte) {
	for _, older := range keys[1:] {
		old = append(old, buyerKey(older))
	}
	return buyerKey(keys[0]), old
}

// buyerKey signs the cookies of buyers who come without a gate. It is derived from the key that signs tokens, so that
// all replicas have the same, and a restart too.
func buyerKey(signer admission.Key) []byte {
	material := signer.Secret
	if signer.Private != nil {
		material = signer.Private.Seed()
	}
	mac := hmac.New(sha256.New, material)
	mac.Write([]byte("foyer buyer cookie"))
	return mac.Sum(nil)
}

// assertionKeys sign for upstreams what the edge forwards to them.
func assertionKeys(keys []admission.Key) []assertion.Key {
	signers := make([]assertion.Key, len(keys))
	for i, key := range keys {
		signers[i] = assertion.Key{ID: key.ID, Private: key.Private, Secret: key.Secret}
	}
	return signers
}

// readEd25519 reads a PKCS #8 private key from a PEM file.
func readEd25519(file string) (ed25519.PrivateKey, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("the file holds no PEM block")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	private, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, errors.New("it is not an Ed25519 key")
	}
	return private, nil
}

// jwks answers with the public halves of the EdDSA keys, for upstreams that check tokens themselves (RFC 8037).
func jwks(keys *admission.Keyring) http.Handler {
	type key struct {
		KeyType   string `json:"kty"`
		Curve     string `json:"crv"`
		ID        string `json:"kid"`
		Algorithm string `json:"alg"`
		Use       string `json:"use"`
		X         string `json:"x"`
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		set := struct {
			Keys []key `json:"keys"`
		}{Keys: []key{}}
		for _, public := range keys.Public() {
			set.Keys = append(set.Keys, key{
				KeyType: "OKP", Curve: "Ed25519", ID: public.ID, Algorithm: "EdDSA", Use: "sig",
				X: base64.RawURLEncoding.EncodeToString(public.Key),
			})
		}
		w.Header().Set("Content-Type", "application/jwk-set+json")
		_ = json.NewEncoder(w).Encode(set) // the client has gone
	})
}
