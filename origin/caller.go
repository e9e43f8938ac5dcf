package origin

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

const (
	buyerCookie  = "foyer-buyer"
	buyerLasts   = 30 * 24 * time.Hour
	buyerHeader  = "X-Foyer-Visitor"
	longestBuyer = 128
)

// Caller is who asks, as the gate in front knows him.
type Caller struct {
	Buyer string // the visitor's sub; empty where no token was shown
	Gated bool   // a gate stands in front: making a hold and starting a payment need a slot
	Slot  bool   // he has one
	// NeedSlot gets a slot for him (true, and the caller as he is known now), or has written the waiting answer (false).
	NeedSlot func(w http.ResponseWriter, r *http.Request) (Caller, bool)
	// Release gives his slot up, for a payment that is settled after its answer. nil where he has none.
	Release func(ctx context.Context) error

	// cookie is who he is by the shop's own cookie, which is his only name where the gate has none for him. What he got
	// under it, while the gate let everybody through, stays his.
	cookie string
}

type callerKey struct{}

// WithCaller hands the gate's verdict to the shop.
func WithCaller(ctx context.Context, caller Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, caller)
}

// withSlot is the caller with a slot, where he needs one; ok is false where the waiting answer has been written.
func (c Caller) withSlot(w http.ResponseWriter, r *http.Request) (caller Caller, ok bool) {
	if !c.Gated || c.Slot {
		return c, true
	}
	if c.NeedSlot == nil {
		return c, false
	}
	now, ok := c.NeedSlot(w, r)
	now.cookie = c.cookie
	if now.Buyer == "" {
		now.Buyer = c.Buyer
	}
	return now, ok
}

// buyers tells who a request is from where no gate has said so: X-Foyer-Visitor of a trusted proxy, else a signed
// cookie of the shop's own.
type buyers struct {
	key     []byte
	old     [][]byte // have signed before
	trusted []netip.Prefix
}

// identify finds the caller; its buyer is empty where nobody is known yet. A gate that lets everyone through knows nobody:
// then the shop's own cookie says who it is, and the gate goes on saying whether a slot is needed.
func (b buyers) identify(r *http.Request) Caller {
	caller, given := r.Context().Value(callerKey{}).(Caller)
	if !given && b.fromTrusted(r) {
		if visitor := r.Header.Get(buyerHeader); visitor != "" && len(visitor) <= longestBuyer && printable(visitor) {
			return Caller{Buyer: visitor}
		}
	}
	for _, cookie := range r.CookiesNamed(buyerCookie) {
		id, signature, found := strings.Cut(cookie.Value, ".")
		if found && b.signed(id, signature) {
			caller.cookie = id
			break
		}
	}
	if caller.Buyer == "" {
		caller.Buyer = caller.cookie
	}
	return caller
}

// is tells whether a hold or an order of this buyer is the caller's.
func (c Caller) is(buyer string) bool { return buyer != "" && (buyer == c.Buyer || buyer == c.cookie) }

// named tells whether the gate says who he is, or nobody else can.
func (c Caller) named() bool { return c.Buyer != "" && (!c.Gated || c.Slot || c.Buyer != c.cookie) }

// admit identifies the caller, and makes an unknown one who needs no slot, or has one, known.
func (b buyers) admit(w http.ResponseWriter, r *http.Request) Caller {
	caller := b.identify(r)
	if caller.Gated && !caller.Slot {
		return caller
	}
	return b.known(w, r, caller)
}

// known gives a caller without a name one of its own, kept in a cookie.
func (b buyers) known(w http.ResponseWriter, r *http.Request, caller Caller) Caller {
	if caller.Buyer != "" {
		return caller
	}
	caller.Buyer = "b_" + strings.ToLower(rand.Text())
	http.SetCookie(w, &http.Cookie{ // #nosec G124 -- Secure wherever the buyer came by TLS
		Name: buyerCookie, Value: caller.Buyer + "." + sign(b.key, caller.Buyer), Path: "/", MaxAge: int(buyerLasts.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: b.secure(r),
	})
	return caller
}

// signed tells whether a signature is of one of the keys.
func (b buyers) signed(id, signature string) bool {
	ok := hmac.Equal([]byte(signature), []byte(sign(b.key, id)))
	for _, key := range b.old {
		ok = ok || hmac.Equal([]byte(signature), []byte(sign(key, id)))
	}
	return ok
}

func sign(key []byte, id string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("buyer:" + id))
	return hex.EncodeToString(mac.Sum(nil))
}

// secure tells whether the client speaks HTTPS, to us or to a trusted proxy.
func (b buyers) secure(r *http.Request) bool {
	return r.TLS != nil || b.fromTrusted(r) && r.Header.Get("X-Forwarded-Proto") == "https"
}

func (b buyers) fromTrusted(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	address = address.Unmap().WithZone("")
	for _, prefix := range b.trusted {
		if prefix.Contains(address) {
			return true
		}
	}
	return false
}
