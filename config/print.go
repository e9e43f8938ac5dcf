package config

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// Print writes a configuration as YAML with every default filled in and every secret as "…". But for the secrets it
// can be read again, and gives the same.
func (c *Config) Print() (string, error) {
	text, err := yaml.MarshalWithOptions(printed(reflect.ValueOf(*c)), yaml.Indent(2), yaml.IndentSequence(true))
	if err != nil {
		return "", fmt.Errorf("encode configuration: %w", err)
	}
	return string(text), nil
}

// printed turns a value into what the YAML encoder writes for it. Sections keep the order of their fields, and leave
// out what is not set and has no way to be written as such.
func printed(value reflect.Value) any {
	switch v := value.Interface().(type) {
	case time.Duration, Size, time.Time:
		return written(value)
	case netip.Prefix:
		return v.String()
	case Secret:
		return v.String()
	case DSN:
		return escaped(v.String())
	case bool, int, int64:
		return v
	case string:
		return escaped(v)
	}
	switch value.Kind() {
	case reflect.Pointer:
		return printed(value.Elem())
	case reflect.Slice:
		items := make([]any, value.Len())
		for i := range items {
			items[i] = printed(value.Index(i))
		}
		return items
	case reflect.Map:
		section := yaml.MapSlice{}
		for _, key := range value.MapKeys() {
			section = append(section, yaml.MapItem{Key: key.String(), Value: printed(value.MapIndex(key))})
		}
		slices.SortFunc(section, func(a, b yaml.MapItem) int { return strings.Compare(a.Key.(string), b.Key.(string)) })
		return section
	}
	section := yaml.MapSlice{}
	for i := range value.NumField() {
		if field := value.Field(i); !leftOut(value.Type(), field) {
			section = append(section, yaml.MapItem{Key: value.Type().Field(i).Tag.Get("yaml"), Value: printed(field)})
		}
	}
	return section
}

// leftOut says whether a field that is not set stays unwritten: sections and times cannot be written empty, and an
// empty key or criterion would mean something.
func leftOut(section reflect.Type, field reflect.Value) bool {
	if !field.IsZero() {
		return false
	}
	switch field.Interface().(type) {
	case time.Time:
		return true
	}
	return field.Kind() == reflect.Pointer || section == reflect.TypeFor[Key]()
}

// escaped keeps a literal ${ from being taken for a variable when the text is read again.
func escaped(text string) string { return strings.ReplaceAll(text, "${", "$${") }
