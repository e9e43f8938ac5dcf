package config

import (
	"reflect"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// describe names what a node is, for a message.
func describe(node ast.Node) string {
	switch node.(type) {
	case ast.MapNode:
		return "a section"
	case *ast.SequenceNode:
		return "a list"
	}
	return "a single value"
}

// placeOf is where a node begins: of a section, its first key.
func placeOf(node ast.Node) position {
	switch n := node.(type) {
	case *ast.MappingNode:
		if len(n.Values) > 0 && n.Start.Type != token.MappingStartType {
			return placeOf(n.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return placeOf(n.Key)
	case nil:
		return position{}
	}
	tk := node.GetToken()
	if tk == nil || tk.Position == nil {
		return position{}
	}
	return position{tk.Position.Line, tk.Position.Column}
}

// placeOfValue is where a pair is best pointed at: at its value, if that is a single one, else at its key.
func placeOfValue(p pair) position {
	switch p.node.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		if at := placeOf(p.node); at.line > 0 {
			return at
		}
	}
	return p.at
}

// keyName is the text of a mapping's key, if that is a plain scalar.
func keyName(key ast.MapKeyNode) (string, bool) {
	switch key.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return key.GetToken().Value, true
	}
	return "", false
}

// hide keeps the values of a node out of excerpts if it stands where a value of type t, or part of it, is secret: what
// was meant for a key is often written one level too high.
func (s *source) hide(node ast.Node, t reflect.Type) {
	if node != nil && holdsSecret(t) {
		ast.Walk(hider{s}, node)
	}
}

// holdsSecret says whether a type is secret or has a part that is.
func holdsSecret(t reflect.Type) bool {
	if t == reflect.TypeFor[Secret]() || t == reflect.TypeFor[DSN]() {
		return true
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Pointer, reflect.Map:
		return holdsSecret(t.Elem())
	case reflect.Struct:
		if isScalar(t) {
			return false
		}
		for i := range t.NumField() {
			if holdsSecret(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

// hider marks the lines of single values.
type hider struct{ *source }

// Visit marks one node.
func (h hider) Visit(node ast.Node) ast.Visitor {
	if _, single := node.(ast.ScalarNode); single {
		at := placeOf(node)
		if from, seen := h.hidden[at.line]; at.line > 0 && (!seen || at.column < from) {
			h.hidden[at.line] = at.column
		}
	}
	return h
}
