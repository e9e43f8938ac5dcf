package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// schemaID names the schema for editors.
const schemaID = "foyer.schema.json"

// variable matches a value that holds a variable, whatever it may become.
const variable = `\$\{`

// node is a part of a JSON schema.
type node = map[string]any

// Schema is a JSON Schema (draft 2020-12) of foyer.yaml, made from the same tags as everything else, for editors: they
// complete keys by it and mark what cannot be right. It is not as strict as [Parse].
func Schema() ([]byte, error) {
	root := sectionSchema("", reflect.ValueOf(Default()), false)
	root["$schema"], root["$id"] = "https://json-schema.org/draft/2020-12/schema", schemaID
	root["title"], root["required"] = "foyer.yaml", []string{"gates"}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(root); err != nil {
		return nil, fmt.Errorf("encode schema: %w", err)
	}
	return out.Bytes(), nil
}

// sectionSchema is the schema of a section whose fields hold the defaults; fixed says that all of it needs a restart.
func sectionSchema(path string, section reflect.Value, fixed bool) node {
	properties, required := node{}, []string{}
	for i := range section.NumField() {
		field, value := section.Type().Field(i), section.Field(i)
		name := field.Tag.Get("yaml")
		key := join(path, name)
		kind, leaf := kinds[field.Type]
		fixed := fixed || field.Tag.Get("change") == "restart"
		switch {
		case leaf:
			properties[name] = settingSchema(newSetting(key, kind, field.Tag, value), field, fixed)
		case field.Type.Kind() == reflect.Slice:
			properties[name] = node{"type": "array", "items": sectionSchema(key+"[]", newValue(field.Type.Elem()), fixed)}
		case field.Type.Kind() == reflect.Map:
			properties[name] = node{"type": "object", "additionalProperties": sectionSchema(key+".<url>", newValue(field.Type.Elem()), fixed)}
		case field.Type.Kind() == reflect.Pointer:
			properties[name] = sectionSchema(key, newValue(field.Type.Elem()), fixed)
		default:
			properties[name] = sectionSchema(key, value, fixed)
		}
		if field.Tag.Get("required") == "true" {
			required = append(required, name)
		}
	}
	made := node{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		made["required"] = required
	}
	if section.Type() == reflect.TypeFor[Key]() {
		made["oneOf"] = []node{{"required": []string{"secret"}}, {"required": []string{"ed25519_file"}}}
	}
	return made
}

// settingSchema is the schema of one key that holds a value.
func settingSchema(s Setting, field reflect.StructField, fixed bool) node {
	made := node{"description": s.describe(fixed)}
	switch s.Kind {
	case KindTexts, KindSecrets:
		made["type"], made["items"] = "array", node{"type": "string"}
	case KindCIDRs:
		made["type"], made["items"] = "array", node{"type": "string", "pattern": `^[0-9A-Fa-f:.]+/[0-9]+$|` + variable}
	case KindNumber:
		made["anyOf"] = []node{numberSchema(s), {"type": "string", "pattern": variable}}
	case KindBool:
		made["anyOf"] = []node{{"type": "boolean"}, {"type": "string", "pattern": variable}}
	case KindDuration:
		made["type"], made["pattern"] = "string", `^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$|`+variable
	case KindSize:
		made["type"], made["pattern"] = "string", `^[0-9]{1,18}(B|KiB|MiB|GiB)$|`+variable
	case KindTime:
		made["type"], made["pattern"] = "string", `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9]{2}:[0-9]{2})$|`+variable
	default:
		made["type"] = "string"
		if len(s.OneOf) > 0 {
			delete(made, "type")
			made["anyOf"] = []node{{"enum": words(s, field)}, {"type": "string", "pattern": variable}}
		}
	}
	if given := defaultOf(s); given != nil {
		made["default"] = given
	}
	return made
}

func numberSchema(s Setting) node {
	made := node{"type": "integer"}
	if len(s.OneOf) > 0 {
		var numbers []int64
		for _, word := range s.OneOf {
			numbers = append(numbers, whole(word))
		}
		return node{"enum": numbers}
	}
	if s.Min != "" {
		made["minimum"] = whole(s.Min)
	}
	if s.Max != "" {
		made["maximum"] = whole(s.Max)
	}
	return made
}

// words are the values that a key takes, true and false among them where they stand for some.
func words(s Setting, field reflect.StructField) []any {
	var all []any
	for _, word := range s.OneOf {
		if _, not := unbuilt[s.Path][word]; !not {
			all = append(all, word)
		}
	}
	if field.Tag.Get("bool") != "" {
		all = append(all, true, false)
	}
	return all
}

// defaultOf is the default as JSON has it; nil for none.
func defaultOf(s Setting) any {
	switch {
	case s.Default == "" || s.Kind == KindTexts || s.Kind == KindSecrets || s.Kind == KindCIDRs || s.Kind == KindSecret:
		return nil
	case s.Kind == KindNumber:
		return whole(s.Default)
	case s.Kind == KindBool:
		return s.Default == "true"
	}
	return s.Default
}

// describe says what a key takes, for the tooltip of an editor.
func (s Setting) describe(restart bool) string {
	text := string(s.Kind)
	if s.Unit != "" {
		text += ", " + s.Unit
	}
	if s.Min != "" && s.Kind != KindNumber {
		text += ", at least " + s.Min
	}
	if s.Max != "" && s.Kind != KindNumber {
		text += ", at most " + s.Max
	}
	if restart {
		text += "; a change needs a restart"
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// whole reads a number of a tag; tags are checked by a test.
func whole(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
