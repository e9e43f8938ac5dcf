package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/zap"

	"foyer/admission"
	"foyer/config"
)

// writeKey makes an Ed25519 key file.
func writeKey(t *testing.T) (file string, public ed25519.PublicKey) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, public
}

func TestTokenKeys_ReadsSecretsAndFiles(t *testing.T) {
	file, public := writeKey(t)
	keys, err := new(tokenKeys).read(config.Tokens{Keys: []config.Key{
		{ID: "new", Ed25519File: file}, {ID: "old", Secret: "0123456789abcdef0123456789abcdef"},
	}}, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	ring, err := admission.NewKeyring(keys...)
	if err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	jwks(ring).ServeHTTP(answer, httptest.NewRequest("GET", "/_foyer/jwks.json", nil))
	var set struct {
		Keys []struct{ Kty, Crv, Kid, Alg, X string }
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &set); err != nil {
		t.Fatal(err)
	}
	if len(set.Keys) != 1 || set.Keys[0].Kid != "new" || set.Keys[0].Kty != "OKP" || set.Keys[0].Crv != "Ed25519" ||
		set.Keys[0].X != base64.RawURLEncoding.EncodeToString(public) {
		t.Errorf("the key set is %s: a secret must not be in it, and a public key must", answer.Body)
	}
}

func TestTokenKeys_RefusesAFileThatHoldsNoKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(file, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := new(tokenKeys).read(config.Tokens{Keys: []config.Key{{ID: "one", Ed25519File: file}}}, zap.NewNop()); exitCode(err) != exitMisuse {
		t.Errorf("got %v, want a misuse", err)
	}
}

func TestBuyerKey_IsTheSameOnEveryReplicaAndHidesTheTokenKey(t *testing.T) {
	secret := []byte("0123456789abcdef0123456789abcdef")
	one, other := buyerKey(admission.Key{ID: "a", Secret: secret}), buyerKey(admission.Key{ID: "b", Secret: secret})
	if !bytes.Equal(one, other) || bytes.Contains(one, secret) || len(one) != 32 {
		t.Errorf("keys %x and %x", one, other)
	}
}

func TestTokenKeys_OfTheProcessGoOnCountingWhenTheFileNamesSome(t *testing.T) {
	var source tokenKeys
	first, err := source.read(config.Tokens{}, zap.NewNop())
	if err != nil || len(first) != 1 {
		t.Fatalf("%d keys, %v", len(first), err)
	}
	again, err := source.read(config.Tokens{}, zap.NewNop())
	if err != nil || again[0].ID != first[0].ID {
		t.Errorf("read again: %v, %v", again[0].ID, err)
	}
	both, err := source.read(config.Tokens{Keys: []config.Key{{ID: "one", Secret: "0123456789abcdef0123456789abcdef"}}}, zap.NewNop())
	if err != nil || len(both) != 2 || both[0].ID != "one" || both[1].ID != first[0].ID {
		t.Errorf("the file's key must sign, and the other one verify: %v, %v", both, err)
	}
}
