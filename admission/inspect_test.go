package admission_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"foyer/admission"
)

func TestInspect_ReadsWithoutAKeyAndChecksWithOne(t *testing.T) {
	now := time.Date(2026, 11, 29, 15, 0, 0, 0, time.UTC)
	key := admission.Key{ID: "a", Secret: bytes.Repeat([]byte("a"), admission.MinSecret)}
	keys, err := admission.NewKeyring(key)
	if err != nil {
		t.Fatal(err)
	}
	other, err := admission.NewKeyring(admission.Key{ID: "a", Secret: bytes.Repeat([]byte("b"), admission.MinSecret)})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := admission.NewVerifier("final", keys, 0, time.Now).Sign(admission.Token{
		Use: admission.UseQueue, Visitor: "v", Round: "r", Ticket: 7, Issued: now, Expires: now.Add(time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		keys     *admission.Keyring
		now      time.Time
		checked  bool
		rejected admission.Rejection
	}{
		"without a key":       {nil, now, false, ""},
		"with the key":        {keys, now, true, ""},
		"with another":        {other, now, true, admission.RejectedSignature},
		"expired":             {keys, now.Add(2 * time.Hour), true, ""},
		"before it was given": {keys, now.Add(-time.Hour), true, admission.RejectedFuture},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := admission.Inspect(raw, tc.keys, time.Second, tc.now)
			if err != nil || got.Checked != tc.checked || got.Rejected != tc.rejected {
				t.Errorf("got %+v, %v", got, err)
			}
			if got.Algorithm != "HS256" || got.KeyID != "a" || got.Token.Gate != "final" || got.Token.Ticket != 7 || !got.Token.Expires.Equal(now.Add(time.Hour)) {
				t.Errorf("read %+v", got)
			}
		})
	}
	for _, junk := range []string{"", "junk", "a.b.c", strings.Repeat("x", 5000), raw[:40]} {
		if got, err := admission.Inspect(junk, keys, 0, now); err == nil {
			t.Errorf("%.20q is read as %+v", junk, got)
		}
	}
}
