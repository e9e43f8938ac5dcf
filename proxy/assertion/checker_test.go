package assertion

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const shop = "http://shop.internal:3000"

var (
	master = []byte(strings.Repeat("m", 32))
	buyer  = Claims{Gate: "final", Visitor: "v-1", Ticket: 42, Via: ViaPass}
)

func secretSigner() *Signer { return NewSigner([]Key{{ID: "k", Secret: master}}, shop) }

func secretChecker() *Checker {
	return &Checker{Upstream: shop, Secrets: map[string]string{"k": Secret(master, shop)}}
}

// signed is a request as an upstream gets it from a signer.
func signed(t *testing.T, s *Signer, method, target string) *http.Request {
	t.Helper()
	text, err := s.Sign(buyer, method, target)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(method, target, nil)
	r.Header.Set(Header, text)
	return r
}

func TestCheck_BelievesTheRequestThatWasSigned(t *testing.T) {
	got, err := secretChecker().Check(signed(t, secretSigner(), "POST", "/sale/a%20b?x=1"))
	if err != nil || got != buyer {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestCheck_RefusesWhatWasMadeForAnother(t *testing.T) {
	_, foreign, _ := ed25519.GenerateKey(nil)
	forge := func(change func(*jwt.Token, *wire), key any) func(*http.Request) {
		return func(r *http.Request) {
			now := time.Now()
			body := wire{Request: digest("GET", "/sale"), RegisteredClaims: jwt.RegisteredClaims{
				Issuer: issuer, Audience: jwt.ClaimStrings{shop}, IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(life)),
			}}
			token := jwt.NewWithClaims(jwt.SigningMethodHS256, &body)
			token.Header["kid"], token.Header["typ"] = "k", tokenType
			change(token, &body)
			text, err := token.SignedString(key)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set(Header, text)
		}
	}
	key := []byte(Secret(master, shop))
	for name, spoil := range map[string]func(*http.Request){
		"nothing":         func(r *http.Request) { r.Header.Del(Header) },
		"two":             func(r *http.Request) { r.Header.Add(Header, r.Header.Get(Header)) },
		"too long":        func(r *http.Request) { r.Header.Set(Header, strings.Repeat("a", maxLength+1)) },
		"another method":  func(r *http.Request) { r.Method = "POST" },
		"another path":    func(r *http.Request) { r.RequestURI = "/sale/all" },
		"another query":   func(r *http.Request) { r.RequestURI = "/sale?n=9" },
		"no signature":    forge(func(k *jwt.Token, _ *wire) { k.Method, k.Header["alg"] = jwt.SigningMethodNone, "none" }, jwt.UnsafeAllowNoneSignatureType),
		"the tokens' key": forge(func(*jwt.Token, *wire) {}, master),
		"another kind":    forge(func(k *jwt.Token, _ *wire) { k.Header["typ"] = "JWT" }, key),
		"another key id":  forge(func(k *jwt.Token, _ *wire) { k.Header["kid"] = "x" }, key),
		"another hash":    forge(func(k *jwt.Token, _ *wire) { k.Method, k.Header["alg"] = jwt.SigningMethodHS384, "HS384" }, key),
		"foreign EdDSA":   forge(func(k *jwt.Token, _ *wire) { k.Method, k.Header["alg"] = jwt.SigningMethodEdDSA, "EdDSA" }, foreign),
		"another issuer":  forge(func(_ *jwt.Token, w *wire) { w.Issuer = "x" }, key),
		"another shop":    forge(func(_ *jwt.Token, w *wire) { w.Audience = jwt.ClaimStrings{"http://other"} }, key),
		"for ever":        forge(func(_ *jwt.Token, w *wire) { w.ExpiresAt = nil }, key),
		"of tomorrow":     forge(func(_ *jwt.Token, w *wire) { w.IssuedAt = jwt.NewNumericDate(time.Now().Add(time.Hour)) }, key),
	} {
		t.Run(name, func(t *testing.T) {
			r := signed(t, secretSigner(), "GET", "/sale")
			spoil(r)
			if got, err := secretChecker().Check(r); err == nil {
				t.Errorf("believed: %+v", got)
			}
		})
	}
	if _, err := (&Checker{}).Check(signed(t, secretSigner(), "GET", "/sale")); err == nil {
		t.Error("the zero value believed something")
	}
}

func TestCheck_BelievesForHalfAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := signed(t, secretSigner(), "GET", "/sale")
		time.Sleep(life + leeway - time.Second)
		if _, err := secretChecker().Check(r); err != nil {
			t.Errorf("within its life: %v", err)
		}
		time.Sleep(2 * time.Second)
		if _, err := secretChecker().Check(r); err == nil {
			t.Error("believed after its life")
		}
	})
}

func TestSecret_IsEachUpstreamsOwn(t *testing.T) {
	if Secret(master, shop) == Secret(master, "http://other") || strings.Contains(Secret(master, shop), string(master)) {
		t.Error("one upstream can sign for another")
	}
}

func TestWrap_FollowsTheKeysOfFoyer(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	foyer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		fmt.Fprintf(w, `{"keys":[{"kty":"RSA","kid":"r"},{"kty":"OKP","crv":"Ed25519","kid":"e","alg":"EdDSA","x":%q}]}`,
			base64.RawURLEncoding.EncodeToString(public))
	}))
	defer foyer.Close()
	var refused error
	check := &Checker{Upstream: shop, JWKS: foyer.URL, Refused: func(_ *http.Request, err error) { refused = err }}
	handler := check.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got, ok := From(r.Context()); !ok || got != buyer {
			t.Errorf("the handler learns %+v", got)
		}
	}))
	ask := func(s *Signer) int {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, signed(t, s, "GET", "/sale"))
		return w.Code
	}
	// An EdDSA key signs even where a secret stands before it.
	good := NewSigner([]Key{{ID: "k", Secret: master}, {ID: "e", Private: private}}, shop)
	for range 3 {
		if code := ask(good); code != http.StatusOK {
			t.Errorf("got %d: %v", code, refused)
		}
	}
	for range 3 { // made-up key ids must not become load on foyer
		if code := ask(NewSigner([]Key{{ID: "made-up", Private: private}}, shop)); code != http.StatusForbidden || refused == nil {
			t.Errorf("an unknown key got %d", code)
		}
	}
	if asked.Load() != 1 {
		t.Errorf("the keys were fetched %d times", asked.Load())
	}
}
