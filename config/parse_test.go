package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

const leastYAML = "gates: [{name: shop, upstream: \"http://127.0.0.1:3000/\", capacity: 50}]\n"

// mustParse reads a configuration that has no problem.
func mustParse(t *testing.T, yaml string, env ...string) *Config {
	t.Helper()
	cfg, report := Parse("foyer.yaml", []byte(yaml), environment(env...))
	if cfg == nil {
		t.Fatal(report)
	}
	return cfg
}

func TestParse_LeastFileHasAllDefaults(t *testing.T) {
	want := Default()
	gate := DefaultGate()
	gate.Name, gate.Upstream, gate.Capacity, gate.Page.Title = "shop", "http://127.0.0.1:3000", 50, "shop"
	want.Gates = []Gate{gate}
	if got := mustParse(t, leastYAML); !reflect.DeepEqual(*got, want) {
		t.Errorf("got %+v\nwant %+v", *got, want)
	}
}

func TestParse_SectionBesideDefaultsKeepsTheRest(t *testing.T) {
	cfg := mustParse(t, leastYAML+"server: {timeouts: {drain: 0s}}\norigin: {events: [{id: a, capacity: 2, price: {amount: 5, currency: eur}}]}\n")
	if cfg.Server.Timeouts.Drain != 0 || cfg.Server.Timeouts.Read != time.Minute || cfg.Server.Listen != ":8080" {
		t.Errorf("server is %+v", cfg.Server)
	}
	if o := cfg.Origin; o.HoldTTL != 5*time.Minute || o.Events[0].Name != "a" || o.Events[0].MaxPerBuyer != 4 {
		t.Errorf("origin is %+v", o)
	}
}

func TestParse_VariablesBecomeValuesOfTheKeysKind(t *testing.T) {
	yaml := `
server: {admin_token: "${NONE:-}", log: {level: "${LEVEL:-debug}"}}
gates:
  - name: ${NAME}
    upstream: http://${HOST:-127.0.0.1}:${PORT}
    capacity: ${K}
    opens_at: ${OPENS:-}
    session: {idle: "${IDLE}"}
    mode: ${MODE}
    page: {title: "$${K} $5 $$ ${EMPTY:-none}: ${EVIL}"}
upstreams: {}
`
	cfg := mustParse(t, yaml, "NAME=a", "PORT=3000", "K=50", "IDLE=3m", "MODE=false", "EMPTY=", "EVIL=}\ncapacity: 1")
	g := cfg.Gates[0]
	if g.Name != "a" || g.Upstream != "http://127.0.0.1:3000" || g.Capacity != 50 || !g.OpensAt.IsZero() ||
		g.Session.Idle != 3*time.Minute || g.Mode != "off" || cfg.Server.Log.Level != "debug" {
		t.Errorf("gate is %+v", g)
	}
	if want := "${K} $5 $$ none: }\ncapacity: 1"; g.Page.Title != want {
		t.Errorf("title is %q, want %q", g.Page.Title, want)
	}
}

func TestParse_WrongVariablesAreProblemsAtTheirLine(t *testing.T) {
	for value, want := range map[string]string{
		"${UNSET}":     "the variable UNSET is not set",
		"${K-5}":       `"K-5" is not the name of a variable`,
		"${K":          "${ is never closed",
		"${}":          "is not the name of a variable",
		"${WORDS}":     "must be a whole number, not what ${WORDS} holds",
		"${EMPTY}":     "must be a whole number, not what ${EMPTY} holds",
		"${A:-${K}}":   "must be a whole number",
		"${EMPTY:-0x5": "${ is never closed",
	} {
		_, report := Parse("f.yaml", []byte("gates:\n  - name: a\n    upstream: http://h\n    capacity: '"+value+"'\n"), testEnvironment)
		if len(report.Problems) != 1 || report.Problems[0].Line != 4 || !strings.Contains(report.Problems[0].Message, want) {
			t.Errorf("%s: got %s, want %q", value, report, want)
		}
		if strings.Contains(report.String(), "lots of words") {
			t.Errorf("%s: the variable's value is shown: %s", value, report)
		}
	}
}

func TestParse_UnsetSecretOfStripeIsNotToBeMade(t *testing.T) {
	_, report := Parse("f.yaml", []byte(leastYAML+"origin: {payment: {provider: stripe, stripe: {secret_key: '${UNSET}', webhook_secrets: ['${UNSET}']}}}\n"), testEnvironment)
	stripes := 0
	for _, problem := range report.Problems {
		if strings.Contains(problem.Mend, "that Stripe shows") {
			stripes++
		}
	}
	if stripes != 2 || strings.Contains(report.String(), "openssl") {
		t.Errorf("%d of 2 secrets are Stripe's: %s", stripes, report)
	}
}

func TestParse_UnsetSecretIsNotGivenADefault(t *testing.T) {
	_, report := Parse("f.yaml", []byte("tokens: {keys: [{id: a, secret: '${UNSET}'}]}\n"+leastYAML), testEnvironment)
	if len(report.Problems) != 1 || report.Problems[0].Mend != "set it; make one with openssl rand -hex 32" {
		t.Error(report)
	}
}

func TestReport_ErrHoldsEveryProblem(t *testing.T) {
	_, report := Parse("f.yaml", []byte("gates: [{name: A, upstream: x, capacity: 0}]"), testEnvironment)
	if err := report.Err(); err == nil || strings.Count(err.Error(), "f.yaml:1:") != 3 {
		t.Errorf("got %v", err)
	}
	if err := (Report{Warnings: report.Problems}).Err(); err != nil {
		t.Errorf("warnings alone are an error: %v", err)
	}
}

func TestParse_DefaultLeewayFitsTheShortestClaim(t *testing.T) {
	cfg := mustParse(t, `gates:
  - {name: a, match: {hosts: [a.test]}, upstream: "http://h", capacity: 1, session: {claim: 2s}}
  - {name: b, upstream: "http://h", capacity: 1}
`)
	if cfg.Tokens.Leeway != 500*time.Millisecond {
		t.Errorf("leeway is %s", cfg.Tokens.Leeway)
	}
}

func TestParse_WindowsLineEndsAndByteOrderMarksAreRead(t *testing.T) {
	mustParse(t, "\ufeff"+strings.ReplaceAll("# a\n"+leastYAML, "\n", "\r\n"))
}

func TestParse_RefusesWhatIsNoText(t *testing.T) {
	for _, data := range []string{"\xff\xfe", strings.Repeat("# long\n", maxFileSize/6)} {
		if cfg, report := Parse("f", []byte(data), testEnvironment); cfg != nil || len(report.Problems) != 1 {
			t.Errorf("%.10q: %v", data, report)
		}
	}
}

func TestLoad_LooksForNamedFiles(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "foyer.yaml")
	page := filepath.Join(folder, "page.html")
	yaml := fmt.Sprintf("tokens: {keys: [{id: a, ed25519_file: %q}]}\nserver: {tls: {cert: %q, key: %q}}\n", folder, page, "none.pem") +
		fmt.Sprintf("gates: [{name: a, upstream: \"http://h\", capacity: 1, page: {template: %q}}]", page)
	for name, text := range map[string]string{path: yaml, page: "hello"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, report := Load(path)
	if text := report.String(); len(report.Problems) != 2 || !strings.Contains(text, "keys[0].ed25519_file: ") || !strings.Contains(text, "server.tls.key: ") {
		t.Error(text)
	}
}

func TestPrint_CanBeReadAgain(t *testing.T) {
	sample, err := os.ReadFile("../deploy/foyer.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, yaml := range map[string]string{"least": leastYAML, "sample": string(sample),
		"odd": strings.Replace(leastYAML, "capacity", `page: {title: "$${X} \"'\n: #"}, capacity`, 1)} {
		t.Run(name, func(t *testing.T) {
			cfg, report := Parse("foyer.yaml", []byte(yaml), testEnvironment)
			if cfg == nil {
				t.Fatal(report)
			}
			text, err := cfg.Print()
			if err != nil {
				t.Fatal(err)
			}
			if regexp.MustCompile(testKey + "|staff-secret|whsec_|sk_test").MatchString(text) {
				t.Errorf("a secret is printed:\n%s", text)
			}
			again, report := Parse("printed.yaml", []byte(strings.ReplaceAll(text, redacted, testKey)), environment())
			if again == nil {
				t.Fatalf("%s\nin\n%s", report, text)
			}
			if second, err := again.Print(); err != nil || second != text {
				t.Errorf("printed again: %v\n%s\nwant\n%s", err, second, text)
			}
		})
	}
}

func TestSecret_IsHiddenHoweverItIsPrinted(t *testing.T) {
	cfg := Config{Store: Store{Redis: "redis://user:" + testKey + "@host/0"}, Tokens: Tokens{Keys: []Key{{Secret: testKey}}}}
	encoded, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{fmt.Sprint(cfg), fmt.Sprintf("%+v", cfg), fmt.Sprintf("%#v", cfg), string(encoded)} {
		if strings.Contains(text, testKey) {
			t.Errorf("shown in %s", text)
		}
	}
}

func TestUpstream_IsFoundWithAndWithoutSlash(t *testing.T) {
	cfg := mustParse(t, leastYAML+"upstreams: {\"http://127.0.0.1:3000/\": {timeout: 5s}}\n")
	if got := cfg.Upstream("http://127.0.0.1:3000"); got.Timeout != 5*time.Second || got.MaxIdleConns != 256 {
		t.Errorf("got %+v", got)
	}
	if got := cfg.Upstream("http://other"); got != DefaultUpstream() {
		t.Errorf("got %+v", got)
	}
}
