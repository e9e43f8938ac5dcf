package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Tolerance is how far the time of a webhook may be from ours, in both directions.
const Tolerance = 300 * time.Second

// maxHeader bounds the work that a header of a stranger can cause.
const maxHeader = 4096

// Why a webhook is not believed.
var (
	ErrMalformed = errors.New("malformed signature header")
	ErrTime      = errors.New("signed too long ago or in the future")
	ErrMismatch  = errors.New("no signature matches")
)

// Sign makes the header for a body.
func Sign(body []byte, secret string, now time.Time) string {
	t := strconv.FormatInt(now.Unix(), 10)
	return "t=" + t + ",v1=" + hex.EncodeToString(mac(t, body, secret))
}

// Verify checks a header against the raw body. One matching pair of a v1 and a secret is enough.
func Verify(header string, body []byte, secrets []string, now time.Time) error {
	t, signatures, err := parse(header)
	if err != nil {
		return err
	}
	match := false
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		want := mac(t, body, secret)
		for _, got := range signatures {
			match = hmac.Equal(got, want) || match
		}
	}
	if !match {
		return ErrMismatch
	}
	// The time is judged after the signature, so that only what we signed is read as a number of ours.
	seconds, err := strconv.ParseInt(t, 10, 64)
	if err != nil {
		return ErrMalformed
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > Tolerance || age < -Tolerance {
		return ErrTime
	}
	return nil
}

// parse splits a header; unknown schemes beside v1 are ignored, a second t is refused.
func parse(header string) (t string, signatures [][]byte, err error) {
	if len(header) > maxHeader {
		return "", nil, ErrMalformed
	}
	for part := range strings.SplitSeq(header, ",") {
		name, value, found := strings.Cut(strings.TrimSpace(part), "=")
		switch {
		case !found:
			return "", nil, ErrMalformed
		case name == "t" && t != "":
			return "", nil, ErrMalformed
		case name == "t":
			t = value
		case name == "v1":
			if signature, err := hex.DecodeString(value); err == nil {
				signatures = append(signatures, signature)
			}
		}
	}
	if t == "" || len(signatures) == 0 {
		return "", nil, ErrMalformed
	}
	return t, signatures, nil
}

func mac(t string, body []byte, secret string) []byte {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(t))
	h.Write([]byte{'.'})
	h.Write(body)
	return h.Sum(nil)
}
