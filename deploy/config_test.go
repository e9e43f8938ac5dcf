package deploy

import (
	"testing"

	"foyer/config"
)

func TestConfig_IsValidWithTheEnvironmentThatComposeGives(t *testing.T) {
	environment := readCompose(t).Services["foyer"].Environment
	lookup := func(name string) (string, bool) {
		value, set := environment[name]
		if name == "FOYER_KEY" { // compose takes it from the person who starts it
			value = "0123456789abcdef0123456789abcdef0123456789abcdef"
		}
		if name == "FOYER_POSTGRES" {
			value = "postgres://foyer:secret@postgres:5432/foyer?sslmode=disable"
		}
		return value, set
	}
	if _, report := config.Parse("compose.yaml", read(t, "examples/compose.yaml"), lookup); !report.OK() {
		t.Error(report.Err())
	}
}
