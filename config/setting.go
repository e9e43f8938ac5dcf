package config

import (
	"fmt"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Kind is what the value of a key looks like.
type Kind string

// The kinds of values. Lists hold what their singular names.
const (
	KindText     Kind = "text"
	KindTexts    Kind = "list of texts"
	KindSecret   Kind = "secret"
	KindSecrets  Kind = "list of secrets"
	KindDSN      Kind = "URL"
	KindNumber   Kind = "number"
	KindBool     Kind = "true or false"
	KindDuration Kind = "duration"
	KindSize     Kind = "size"
	KindTime     Kind = "time"
	KindCIDRs    Kind = "list of CIDRs"
)

// Setting is one key of foyer.yaml that holds a value, as documentation and editors need it.
type Setting struct {
	Path     string // such as gates[].session.idle or upstreams.<url>.timeout
	Kind     Kind
	Default  string // as it would be written; empty where there is none
	Required bool   // wherever the section around it is there
	OneOf    []string
	Min, Max string
	Unit     string // what a number counts
	Restart  bool   // a running foyer refuses a file with another value
}

// Settings lists every key that holds a value, in the order of the file.
var Settings = sync.OnceValue(func() []Setting {
	var all []Setting
	all = appendSettings(all, "", reflect.ValueOf(Default()))
	return all
})

// kinds maps the types of fields to what is written for them.
var kinds = map[reflect.Type]Kind{
	reflect.TypeFor[Secret]():         KindSecret,
	reflect.TypeFor[[]Secret]():       KindSecrets,
	reflect.TypeFor[DSN]():            KindDSN,
	reflect.TypeFor[string]():         KindText,
	reflect.TypeFor[[]string]():       KindTexts,
	reflect.TypeFor[int]():            KindNumber,
	reflect.TypeFor[int64]():          KindNumber,
	reflect.TypeFor[bool]():           KindBool,
	reflect.TypeFor[time.Duration]():  KindDuration,
	reflect.TypeFor[Size]():           KindSize,
	reflect.TypeFor[time.Time]():      KindTime,
	reflect.TypeFor[[]netip.Prefix](): KindCIDRs,
}

// newValue is a value of a type with the defaults a section of the file begins with.
func newValue(t reflect.Type) reflect.Value {
	value := reflect.New(t).Elem()
	switch section := value.Addr().Interface().(type) {
	case *Gate:
		*section = DefaultGate()
	case *Origin:
		*section = DefaultOrigin()
	case *Event:
		*section = DefaultEvent()
	case *Upstream:
		*section = DefaultUpstream()
	}
	return value
}

// appendSettings adds the settings of a section, whose fields hold the defaults.
func appendSettings(all []Setting, path string, section reflect.Value) []Setting {
	for i := range section.NumField() {
		field, value := section.Type().Field(i), section.Field(i)
		name, first := strings.TrimPrefix(path+"."+field.Tag.Get("yaml"), "."), len(all)
		kind, leaf := kinds[field.Type]
		switch {
		case leaf:
			all = append(all, newSetting(name, kind, field.Tag, value))
		case field.Type.Kind() == reflect.Slice:
			all = appendSettings(all, name+"[]", newValue(field.Type.Elem()))
		case field.Type.Kind() == reflect.Map:
			all = appendSettings(all, name+".<url>", newValue(field.Type.Elem()))
		case field.Type.Kind() == reflect.Pointer:
			all = appendSettings(all, name, newValue(field.Type.Elem()))
		default:
			all = appendSettings(all, name, value)
		}
		if field.Tag.Get("change") == "restart" {
			for i := range all[first:] {
				all[first+i].Restart = true
			}
		}
	}
	return all
}

func newSetting(path string, kind Kind, tag reflect.StructTag, value reflect.Value) Setting {
	setting := Setting{Path: path, Kind: kind, Required: tag.Get("required") == "true",
		Min: tag.Get("min"), Max: tag.Get("max"), Unit: tag.Get("unit")}
	if words := tag.Get("oneof"); words != "" {
		setting.OneOf = strings.Split(words, "|")
	}
	if !setting.Required {
		setting.Default = written(value)
	}
	return setting
}

// written is a value as one would write it in the file, in a line.
func written(value reflect.Value) string {
	switch v := value.Interface().(type) {
	case time.Duration:
		return writtenDuration(v)
	case time.Time:
		if v.IsZero() {
			return ""
		}
		return v.Format(time.RFC3339)
	case Secret:
		return string(v)
	case DSN:
		return string(v)
	case fmt.Stringer:
		return v.String()
	}
	if value.Kind() == reflect.Slice {
		items := make([]string, value.Len())
		for i := range items {
			items[i] = written(value.Index(i))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return fmt.Sprint(value.Interface())
}

// writtenDuration writes 2m0s as 2m, and 1h0m0s as 1h.
func writtenDuration(d time.Duration) string {
	for _, unit := range []struct {
		name   string
		length time.Duration
	}{{"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}} {
		if d >= unit.length && d%unit.length == 0 && (unit.name != "s" || d < 5*time.Minute) {
			return strconv.FormatInt(int64(d/unit.length), 10) + unit.name
		}
	}
	return d.String()
}
