package signature

import (
	"errors"
	"strings"
	"testing"
	"time"
)

var at = time.Unix(1_800_000_000, 0)

// TestVerify_BelievesOnlyWhatWasSigned is the table F7 of the scenarios.
func TestVerify_BelievesOnlyWhatWasSigned(t *testing.T) {
	body := []byte(`{"id":"evt_1"}`)
	right := Sign(body, "one", at)
	_, v1, _ := strings.Cut(right, ",")
	cases := []struct {
		name, header string
		body         string
		secrets      []string
		now          time.Time
		want         error
	}{
		{"right", right, string(body), []string{"one"}, at, nil},
		{"second secret", right, string(body), []string{"two", "one"}, at, nil},
		{"another secret", right, string(body), []string{"two"}, at, ErrMismatch},
		{"no secret", right, string(body), nil, at, ErrMismatch},
		{"an empty secret never counts", Sign(body, "", at), string(body), []string{""}, at, ErrMismatch},
		{"a changed byte", right, `{"id":"evt_2"}`, []string{"one"}, at, ErrMismatch},
		{"300 s old", right, string(body), []string{"one"}, at.Add(300 * time.Second), nil},
		{"301 s old", right, string(body), []string{"one"}, at.Add(301 * time.Second), ErrTime},
		{"301 s ahead", right, string(body), []string{"one"}, at.Add(-301 * time.Second), ErrTime},
		{"two v1, one right", right + ",v1=00ff", string(body), []string{"one"}, at, nil},
		{"two v1, the second right", "t=1800000000,v1=00ff," + v1, string(body), []string{"one"}, at, nil},
		{"another time", "t=1800000001," + v1, string(body), []string{"one"}, at, ErrMismatch},
		{"another scheme beside it", right + ",v0=abc", string(body), []string{"one"}, at, nil},
		{"two times", "t=1," + right, string(body), []string{"one"}, at, ErrMalformed},
		{"no time", v1, string(body), []string{"one"}, at, ErrMalformed},
		{"not hex", "t=1800000000,v1=zz", string(body), []string{"one"}, at, ErrMalformed},
		{"empty", "", string(body), []string{"one"}, at, ErrMalformed},
		{"huge", strings.Repeat("v1=00,", 2000) + right, string(body), []string{"one"}, at, ErrMalformed},
	}
	for _, c := range cases {
		if got := Verify(c.header, []byte(c.body), c.secrets, c.now); !errors.Is(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func FuzzVerify_NeverBelievesAStranger(f *testing.F) {
	f.Add("t=1800000000,v1=00", []byte("{}"))
	f.Add(Sign([]byte("{}"), "another", at), []byte("{}"))
	f.Fuzz(func(t *testing.T, header string, body []byte) {
		if Verify(header, body, []string{"a secret nobody knows"}, at) == nil {
			t.Fatalf("believed %q", header)
		}
	})
}
