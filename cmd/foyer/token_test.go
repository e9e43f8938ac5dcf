package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"foyer/admission"
)

// printed runs a command without a configuration.
func printed(t *testing.T, args ...string) (string, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	var out bytes.Buffer
	root := newRoot()
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestKeysGenerate_MakesWhatTheConfigurationTakes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key.pem")
	for name, args := range map[string][]string{
		"a secret": {"keys", "generate", "--id", "new"},
		"a pair":   {"keys", "generate", "--id", "new", "--ed25519", "--out", file},
	} {
		t.Run(name, func(t *testing.T) {
			line, err := printed(t, args...)
			if err != nil {
				t.Fatal(err)
			}
			yaml := fmt.Sprintf("tokens:\n  keys:\n    %sgates: [{name: shop, upstream: \"http://127.0.0.1:1\", capacity: 1}]\n", line)
			if out, failure, code := checked(t, yaml); code != exitOK {
				t.Errorf("exit %d for\n%s: %s%s", code, yaml, out, failure)
			}
		})
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the private key: %v, %v", info.Mode(), err)
	}
	if _, err := readEd25519(file); err != nil {
		t.Error(err)
	}
	if _, err := printed(t, "keys", "generate", "--ed25519", "--out", file); err == nil {
		t.Error("a key was overwritten")
	}
	if _, err := printed(t, "keys", "generate", "--ed25519"); exitCode(err) != exitMisuse {
		t.Errorf("without a file: %v", err)
	}
}

const inspectYAML = `
tokens: {keys: [{id: "%s", secret: %s}]}
gates: [{name: final, upstream: "http://127.0.0.1:1", capacity: 1, queue: {keep: 2h}}]
`

func TestTokenInspect_SaysWhatItIsAndWhyItDoesNotCount(t *testing.T) {
	secret := strings.Repeat("s", admission.MinSecret)
	ring, err := admission.NewKeyring(admission.Key{ID: "one", Secret: []byte(secret)})
	if err != nil {
		t.Fatal(err)
	}
	token := func(gate string, age time.Duration) string {
		issued := time.Now().Add(-age)
		raw, err := admission.NewVerifier(gate, ring, 0, time.Now).Sign(admission.Token{
			Use: admission.UseQueue, Visitor: "visitor", Round: "round", Ticket: 7, Issued: issued, Expires: issued.Add(time.Hour),
		})
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	good := fmt.Sprintf(inspectYAML, "one", secret)
	for name, tc := range map[string]struct {
		raw, yaml       string
		verified, valid bool
		reason          string
	}{
		"a good one":    {token("final", 0), good, true, true, ""},
		"an old one":    {token("final", 2*time.Hour), good, true, false, "its ticket is kept for 1h0m0s more"},
		"too old":       {token("final", 9*time.Hour), good, true, false, "longer than queue.keep"},
		"another gate":  {token("semi", 0), good, true, false, `no gate "semi"`},
		"another key":   {token("final", 0), fmt.Sprintf(inspectYAML, "one", strings.Repeat("x", 32)), false, false, "not of the key"},
		"another id":    {token("final", 0), fmt.Sprintf(inspectYAML, "two", secret), false, false, "no key of its id"},
		"from tomorrow": {token("final", -24*time.Hour), good, false, false, "in the future"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := command(t, tc.yaml, "token", "inspect", tc.raw, "--json")
			if err != nil {
				t.Fatal(err)
			}
			var got inspected
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			if got.Verified != tc.verified || got.Valid != tc.valid || !strings.Contains(got.Reason, tc.reason) || got.Ticket != 7 {
				t.Errorf("got %s", out)
			}
		})
	}
	out, err := printed(t, "token", "inspect", token("final", 0))
	if err != nil || !strings.Contains(out, "unverified") || !strings.Contains(out, "ticket   7") {
		t.Errorf("without a key: %v\n%s", err, out)
	}
}

func TestTokenInspect_SaysWhatATokenIs(t *testing.T) {
	for _, junk := range []string{"abc", "", "foyer-final=a.b.c", "a.b", strings.Repeat("a.", 5000)} {
		_, err := printed(t, "token", "inspect", junk)
		if exitCode(err) != exitMisuse {
			t.Fatalf("%q: %v", junk, err)
		}
		for _, want := range []string{"three parts with dots between", "cookie foyer-GATE", "header Foyer-Token"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: no %q in %v", junk, want, err)
			}
		}
	}
}
