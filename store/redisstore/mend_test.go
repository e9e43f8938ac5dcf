package redisstore

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"foyer/internal/services"
)

func TestMend_KnowsWhatHelpsAgainstARedisThatDoesNotAnswer(t *testing.T) {
	address, _ := services.Redis(t)
	good, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	change := func(change func(*url.URL)) string {
		other := *good
		change(&other)
		return other.String()
	}
	for name, tc := range map[string]struct{ url, want string }{
		"nobody listens":   {"redis://127.0.0.1:1/0", "see that Redis runs"},
		"no such user":     {change(func(u *url.URL) { u.User = url.UserPassword("nobody", "secret") }), "user and password"},
		"no such database": {change(func(u *url.URL) { u.Path = "/99999" }), "name a database that is there"},
		"no TLS":           {change(func(u *url.URL) { u.Scheme = "rediss" }), "rediss:// where it speaks TLS"},
	} {
		t.Run(name, func(t *testing.T) {
			client, err := Dial(tc.url)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			err = client.Ping(t.Context()).Err()
			if got := Mend(err); err == nil || !strings.Contains(got, tc.want) {
				t.Errorf("against %v helps %q, want %q", err, got, tc.want)
			}
		})
	}
	for _, err := range []error{nil, errors.New("anything else")} {
		if got := Mend(err); got != "" {
			t.Errorf("against %v helps %q", err, got)
		}
	}
}
