package config

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// decoder fills Go values from YAML nodes and goes on after each mistake.
type decoder struct {
	*notes
	env    func(string) (string, bool)
	opaque map[string]bool // sections with keys that could not be read, in which nothing counts as missing
}

// value decodes a node into dst, which holds the default and keeps it where the node is wrong.
func (d *decoder) value(key string, at position, node ast.Node, dst reflect.Value, tag reflect.StructTag) {
	d.at[key] = at
	switch n := node.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		d.problem(at, key, "anchors, aliases and merge keys are not read here", "write the values out")
		return
	case *ast.TagNode:
		d.problem(at, key, "tags are not read here", "remove "+n.Start.Value)
		return
	case *ast.NullNode:
		d.problem(at, key, "has no value", emptyMend(dst))
		return
	}
	if isScalar(dst.Type()) {
		d.scalar(key, node, dst, tag)
		return
	}
	switch dst.Kind() {
	case reflect.Slice:
		d.list(key, node, dst, tag)
	case reflect.Map:
		d.table(key, node, dst)
	case reflect.Pointer:
		dst.Set(newValue(dst.Type().Elem()).Addr())
		d.section(key, node, dst.Elem())
	default:
		d.section(key, node, dst)
	}
}

// emptyMend is what to do about a key without a value.
func emptyMend(dst reflect.Value) string {
	kind, leaf := kinds[dst.Type()]
	switch {
	case leaf && dst.Kind() == reflect.Slice:
		return "write a list, [] for none, or remove the key"
	case leaf && kind == KindText:
		return `write one, "" for none, or remove the key to keep its default`
	case leaf:
		return "write one, or remove the key to keep its default"
	case dst.Kind() == reflect.Slice:
		return "write its items below it, each after a dash"
	}
	return "write its keys below it, {} for all defaults, or remove it"
}

// pair is a key of a mapping with its value.
type pair struct {
	name string
	at   position
	node ast.Node
}

// pairs lists the keys of a mapping, noting what is no mapping, what is no key, and what is there twice.
func (d *decoder) pairs(key string, node ast.Node, dst reflect.Type) ([]pair, bool) {
	mapping, ok := node.(ast.MapNode)
	if !ok {
		d.source.hide(node, dst)
		d.problem(d.at[key], key, "must be a section with keys, not "+describe(node), "write its keys below it, indented")
		return nil, false
	}
	var all []pair
	first := map[string]position{}
	for iter := mapping.MapRange(); iter.Next(); {
		at := placeOf(iter.Key())
		name, scalar := keyName(iter.Key())
		switch before, twice := first[name]; {
		case !scalar:
			d.opaque[key] = true
			d.problem(at, key, "this is not a key that can be read here", "write plain keys; anchors, aliases, merge keys and tags are refused")
		case twice:
			d.problem(at, join(key, name), fmt.Sprintf("is set twice, first in line %d", before.line), "remove one of the two")
		default:
			first[name] = at
			all = append(all, pair{name, at, iter.Value()})
		}
	}
	return all, true
}

// section decodes a mapping into a struct.
func (d *decoder) section(key string, node ast.Node, dst reflect.Value) {
	pairs, ok := d.pairs(key, node, dst.Type())
	if !ok {
		return
	}
	found := map[string]bool{}
	for _, p := range pairs {
		field, known := fieldOf(dst.Type(), p.name)
		if !known {
			d.unknown(key, p, dst.Type())
			continue
		}
		found[p.name] = true
		d.value(join(key, p.name), placeOfValue(p), p.node, dst.FieldByIndex(field.Index), field.Tag)
	}
	for i := range dst.NumField() {
		field := dst.Type().Field(i)
		name := field.Tag.Get("yaml")
		if field.Tag.Get("required") == "true" && !found[name] && !d.opaque[key] {
			d.missing(d.find(key), join(key, name), "is missing", requiredMend[name])
		}
	}
}

// requiredMend says what to write for a required key.
var requiredMend = map[string]string{
	"name":     "add a name, such as name: final",
	"upstream": "add upstream: http://127.0.0.1:3000, or upstream: origin for the embedded shop",
	"capacity": "add how many there may be at once, such as capacity: 50",
	"id":       "add a short name, such as id: final",
	"value":    `add value: "${VARIABLE}"`,
	"price":    "add price: {amount: 12000, currency: eur}",
	"amount":   "add the price in minor units, such as amount: 12000",
	"currency": "add currency: eur, or another",
}

// unknown notes a key that is none, and what may have been meant.
func (d *decoder) unknown(key string, p pair, section reflect.Type) {
	names := make([]string, section.NumField())
	for i := range names {
		names[i] = section.Field(i).Tag.Get("yaml")
	}
	where := "of the file"
	if key != "" {
		where = "of " + key
	}
	mend := "its keys are " + strings.Join(names, ", ")
	if home := elsewhere(p.name); home != "" {
		mend = "it belongs under " + home
	}
	if near := nearest(p.name, names); near != "" {
		mend = "did you mean " + near + "?"
	}
	d.problem(p.at, join(key, p.name), "is not a key "+where, mend)
}

// table decodes a mapping of free keys into a map of sections.
func (d *decoder) table(key string, node ast.Node, dst reflect.Value) {
	pairs, ok := d.pairs(key, node, dst.Type())
	if !ok {
		return
	}
	dst.Set(reflect.MakeMap(dst.Type()))
	for _, p := range pairs {
		section := newValue(dst.Type().Elem())
		d.value(fmt.Sprintf("%s[%s]", key, p.name), p.at, p.node, section, "")
		dst.SetMapIndex(reflect.ValueOf(p.name), section)
	}
}

// list decodes a sequence into a slice.
func (d *decoder) list(key string, node ast.Node, dst reflect.Value, tag reflect.StructTag) {
	sequence, ok := node.(*ast.SequenceNode)
	if !ok {
		d.source.hide(node, dst.Type())
		d.problem(d.at[key], key, "must be a list, not "+describe(node), "write [first, second], or each after a dash")
		return
	}
	dst.Set(reflect.MakeSlice(dst.Type(), 0, len(sequence.Values)))
	for i, node := range sequence.Values {
		item := newValue(dst.Type().Elem())
		d.value(fmt.Sprintf("%s[%d]", key, i), placeOf(node), node, item, tag)
		dst.Set(reflect.Append(dst, item))
	}
}

// fieldOf finds the field of a section that a key names.
func fieldOf(section reflect.Type, name string) (reflect.StructField, bool) {
	for i := range section.NumField() {
		if field := section.Field(i); field.Tag.Get("yaml") == name {
			return field, true
		}
	}
	return reflect.StructField{}, false
}

// join is the path of a key in a section.
func join(section, name string) string {
	if section == "" {
		return name
	}
	return section + "." + name
}
