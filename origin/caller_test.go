package origin

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

func request(remote string, set func(*http.Request)) *http.Request {
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = remote
	if set != nil {
		set(r)
	}
	return r
}

func TestIdentify_BelievesOnlyWhoMayTell(t *testing.T) {
	b := buyers{
		key: []byte("0123456789abcdef"), old: [][]byte{[]byte("an older key 0123")},
		trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
	}
	named := func(r *http.Request) { r.Header.Set(buyerHeader, "anna") }
	cookie := func(value string) func(*http.Request) {
		return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: buyerCookie, Value: value}) }
	}
	other := buyers{key: []byte("another key 0123")}
	cases := []struct {
		name string
		r    *http.Request
		want string
	}{
		{"nobody", request("10.1.1.1:1", nil), ""},
		{"a trusted proxy", request("10.1.1.1:1", named), "anna"},
		{"a trusted proxy, mapped", request("[::ffff:10.1.1.1]:1", named), "anna"},
		{"a stranger", request("192.0.2.1:1", named), ""},
		{"a signed cookie", request("192.0.2.1:1", cookie("b_x."+sign(b.key, "b_x"))), "b_x"},
		{"a cookie of an older key", request("192.0.2.1:1", cookie("b_x."+sign(b.old[0], "b_x"))), "b_x"},
		{"a cookie of another shop", request("192.0.2.1:1", cookie("b_x."+sign(other.key, "b_x"))), ""},
		{"an unsigned cookie", request("192.0.2.1:1", cookie("b_x")), ""},
		{"an empty signature", request("192.0.2.1:1", cookie("b_x.")), ""},
		{"a changed name", request("192.0.2.1:1", cookie("b_y."+sign(b.key, "b_x"))), ""},
		{"the gate's word counts first", request("10.1.1.1:1", func(r *http.Request) {
			named(r)
			*r = *r.WithContext(WithCaller(r.Context(), Caller{Buyer: "v1", Gated: true}))
		}), "v1"},
		{"the gate knows nobody", request("10.1.1.1:1", func(r *http.Request) {
			named(r)
			*r = *r.WithContext(WithCaller(r.Context(), Caller{Gated: true}))
		}), ""},
	}
	for _, c := range cases {
		if got := b.identify(c.r).Buyer; got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestIdentify_TheFirstCookieThatVerifiesCounts(t *testing.T) {
	b := buyers{key: []byte("0123456789abcdef")}
	r := request("192.0.2.1:1", func(r *http.Request) {
		r.Header.Set("Cookie", "foyer-buyer=evil.00; foyer-buyer=b_x."+sign(b.key, "b_x"))
	})
	if got := b.identify(r).Buyer; got != "b_x" {
		t.Fatalf("got %q", got)
	}
}

func TestAdmit_MakesABuyerKnown(t *testing.T) {
	b := buyers{key: []byte("0123456789abcdef"), trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
	w := httptest.NewRecorder()
	caller := b.admit(w, request("10.1.1.1:1", func(r *http.Request) { r.Header.Set("X-Forwarded-Proto", "https") }))
	cookie := w.Result().Cookies()[0]
	if caller.Buyer == "" || !cookie.HttpOnly || !cookie.Secure || cookie.SameSite != http.SameSiteLaxMode {
		t.Fatalf("got %+v, %+v", caller, cookie)
	}
	again := request("192.0.2.1:1", func(r *http.Request) { r.AddCookie(cookie) })
	w = httptest.NewRecorder()
	if b.admit(w, again).Buyer != caller.Buyer || len(w.Result().Cookies()) != 0 {
		t.Fatal("not known again")
	}
}
