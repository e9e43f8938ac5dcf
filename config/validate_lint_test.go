package config

import (
	"strings"
	"testing"
)

func TestLint_WarnsOfWhatIsSeldomMeant(t *testing.T) {
	const shop = `gates: [{name: shop, upstream: "http://127.0.0.1:1", capacity: 50`
	const assets = `, bypass: [{paths: [/assets/**]}]`
	for name, tc := range map[string]struct{ yaml, key, message string }{
		"every path":              {shop + `}]`, "gates[0].bypass", "assets and webhooks need a slot"},
		"every path by a pattern": {shop + `, match: {paths: [/**]}}]`, "gates[0].bypass", "assets and webhooks"},
		"with a bypass":           {shop + assets + `}]`, "", ""},
		"mode off":                {shop + `, mode: "off"}]`, "", ""},
		"one path":                {shop + `, match: {paths: [/sale/**]}}]`, "", ""},
		"assets by name":          {shop + `, match: {paths: [/sale/**, /sale/static/*.js]}}]`, "gates[0].match.paths[1]", "assets need a slot"},
		"webhooks by name":        {shop + `, match: {paths: [/Webhooks/stripe]}}]`, "gates[0].match.paths[0]", "webhooks"},

		"a rate too low":    {shop + assets + `, admit_rate: 3}]`, "gates[0].admit_rate", "at most 45 buyers be inside at once, in the 15m"},
		"a rate just right": {shop + assets + `, admit_rate: 4}]`, "", ""},

		"secure on plain HTTP":    {shop + assets + `, cookie: {secure: true}}]`, "gates[0].cookie.secure", "every request is a new visitor"},
		"secure behind a proxy":   {"server: {trusted_proxies: [10.0.0.0/8]}\n" + shop + assets + `, cookie: {secure: true}}]`, "", ""},
		"not secure with TLS":     {"server: {tls: {cert: a, key: b}}\n" + shop + assets + `, cookie: {secure: false}}]`, "gates[0].cookie.secure", "plain HTTP, too"},
		"loopback, untrusted":     {"server: {listen: \"127.0.0.1:8080\"}\n" + shop + assets + `}]`, "server.listen", "all visitors count as one address"},
		"loopback, and it is so":  {"server: {listen: \"127.0.0.1:8080\", trusted_proxies: []}\n" + shop + assets + `}]`, "", ""},
		"loopback, for a test":    {"server: {listen: \"127.0.0.1:0\"}\n" + shop + assets + `}]`, "", ""},
		"loopback with TLS":       {"server: {listen: \"127.0.0.1:8443\", tls: {cert: a, key: b}}\n" + shop + assets + `}]`, "", ""},
		"a gate of the own shop":  {"gates: [{name: shop, upstream: origin, capacity: 50}]\norigin: {events: [{id: a, capacity: 1, price: {amount: 1, currency: eur}}]}", "", ""},
		"a hold over the session": {"gates: [{name: shop, upstream: origin, capacity: 50}]\norigin: {hold_ttl: 1h, events: [{id: a, capacity: 1, price: {amount: 1, currency: eur}}]}", "origin.hold_ttl", "session.max"},
	} {
		t.Run(name, func(t *testing.T) {
			_, report := Parse("foyer.yaml", []byte(tc.yaml), testEnvironment)
			if !report.OK() {
				t.Fatal(report)
			}
			switch {
			case tc.key == "" && len(report.Warnings) > 0:
				t.Errorf("warned of %v", report.Warnings)
			case tc.key != "" && (len(report.Warnings) != 1 || report.Warnings[0].Key != tc.key || !strings.Contains(report.Warnings[0].Message, tc.message)):
				t.Errorf("got %v", report.Warnings)
			case tc.key != "" && tc.key != "origin.hold_ttl" && report.Warnings[0].Mend == "":
				t.Error("it does not say what to write instead")
			}
		})
	}
}

func TestLint_TheRateItProposesIsEnough(t *testing.T) {
	const yaml = `gates: [{name: shop, upstream: "http://127.0.0.1:1", capacity: 50, bypass: [{paths: [/a]}], session: {max: 7m}, admit_rate: `
	_, report := Parse("foyer.yaml", []byte(yaml+"1}]"), testEnvironment)
	if len(report.Warnings) != 1 || !strings.Contains(report.Warnings[0].Mend, "at least 8,") {
		t.Fatalf("got %v", report.Warnings)
	}
	if _, report = Parse("foyer.yaml", []byte(yaml+"8}]"), testEnvironment); len(report.Warnings) > 0 {
		t.Errorf("got %v", report.Warnings)
	}
}
