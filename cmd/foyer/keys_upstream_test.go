package main

import (
	"fmt"
	"strings"
	"testing"

	"foyer/proxy/assertion"
)

func TestKeysUpstream_TakesTheURLAsTheConfigurationDoes(t *testing.T) {
	const yaml = `
tokens: {keys: [{id: one, secret: 0123456789abcdef0123456789abcdef}]}
gates:
  - {name: api, match: {paths: [/api/**]}, upstream: "http://127.0.0.1:4000", capacity: 1}
  - {name: shop, upstream: "http://127.0.0.1:3000%s", capacity: 1}
`
	want := "one " + assertion.Secret([]byte("0123456789abcdef0123456789abcdef"), "http://127.0.0.1:3000") + "\n"
	for _, written := range []string{"", "/"} {
		for _, given := range []string{"", "/"} {
			out, err := command(t, fmt.Sprintf(yaml, written), "keys", "upstream", "http://127.0.0.1:3000"+given)
			if err != nil || out != want {
				t.Errorf("a gate to :3000%s, asked for :3000%s: %v, %q, want %q", written, given, err, out, want)
			}
		}
	}
	for _, given := range []string{"http://127.0.0.1:3001", "http://127.0.0.1:3000//", "origin", "/"} {
		_, err := command(t, fmt.Sprintf(yaml, ""), "keys", "upstream", given)
		if exitCode(err) != exitMisuse ||
			!strings.Contains(err.Error(), "gates[].upstream, http://127.0.0.1:4000, http://127.0.0.1:3000") {
			t.Errorf("%s: %v", given, err)
		}
	}
	_, err := command(t, strings.Replace(shopYAML, "SQLITE", "foyer.db", 1), "keys", "upstream", "origin")
	if exitCode(err) != exitMisuse || !strings.Contains(err.Error(), "needs no secret") {
		t.Errorf("the embedded shop: %v", err)
	}
}
