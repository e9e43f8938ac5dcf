package config

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// compiled is the schema as an editor has it.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(schemaID, doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile(schemaID)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// instance is a YAML file as JSON values.
func instance(t *testing.T, text []byte) any {
	t.Helper()
	var value any
	if err := yaml.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

func TestSchema_IsTheOneDelivered(t *testing.T) {
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	delivered, err := os.ReadFile("../deploy/" + schemaID)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, delivered) {
		t.Error("deploy/foyer.schema.json is another one: go run ./cmd/foyer check --schema >deploy/foyer.schema.json")
	}
}

func TestSchema_TakesWhatIsDelivered(t *testing.T) {
	schema := compiled(t)
	files, err := filepath.Glob("../deploy/examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, name := range append(files, "../deploy/foyer.yaml") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(instance(t, text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSchema_AgreesWithParse holds the schema to what Parse says of the form of single values.
func TestSchema_AgreesWithParse(t *testing.T) {
	schema := compiled(t)
	const gate = "gates: [{name: shop, upstream: \"http://127.0.0.1:1\", capacity: 1"
	for _, more := range []string{
		"", ", session: {idle: 90s}", ", session: {idle: 1h30m}", ", session: {idle: 10}", ", session: {idle: soon}",
		", mode: paused", ", mode: true", ", mode: maybe", ", order: draw", ", page: {status: 202}", ", page: {status: 201}",
		", opens_at: 2026-12-01T10:00:00+01:00", ", opens_at: tomorrow", ", sesion: {}", ", queue: {max: 0}", ", queue: {max: \"10\"}",
		", admit_rate: \"${RATE}\"", ", bypass: [{cidrs: [10.0.0.0/8]}]", ", bypass: [{cidrs: [here]}]", ", bypass: [{header: {name: X}}]",
		", cookie: {secure: true}", ", cookie: {secure: never}",
	} {
		text := []byte(gate + more + "}]")
		_, report := Parse("foyer.yaml", text, func(string) (string, bool) { return "7", true })
		err := schema.Validate(instance(t, text))
		if report.OK() != (err == nil) {
			t.Errorf("%s: the schema says %v, and Parse %v", more, err, report)
		}
	}
	for _, text := range []string{"{}", "gates: [{}]", strings.Replace(gate, "capacity: 1", "capacity: 0", 1) + "}]"} {
		if schema.Validate(instance(t, []byte(text))) == nil {
			t.Errorf("%s is taken", text)
		}
	}
}
