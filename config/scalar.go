package config

import (
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// longestShown is the length of a value, in bytes, up to which a message repeats it.
const longestShown = 40

// scalar is a single value of the file, variables replaced.
type scalar struct {
	text   string
	form   form
	quoted bool
	names  []string // the variables that went into it
}

// isScalar says whether a type is written as a single value.
func isScalar(t reflect.Type) bool {
	_, leaf := kinds[t]
	return leaf && t.Kind() != reflect.Slice || t == reflect.TypeFor[netip.Prefix]()
}

// form is what YAML takes a scalar for. What holds a variable is anyText: its content was not known to the parser.
type form int

const (
	plainText form = iota
	number
	boolean
	anyText
)

// scalarOf reads a node as a single value; ok is false where it is none.
func scalarOf(node ast.Node) (s scalar, ok bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		quoted := n.Token.Type == token.SingleQuoteType || n.Token.Type == token.DoubleQuoteType
		return scalar{text: n.Value, quoted: quoted}, true
	case *ast.LiteralNode:
		return scalar{text: n.Value.Value, quoted: true}, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return scalar{text: node.GetToken().Value, form: number}, true
	case *ast.BoolNode:
		return scalar{text: node.GetToken().Value, form: boolean}, true
	}
	return scalar{}, false
}

// String shows the value in a message: not where the environment had a part in it.
func (s scalar) String() string {
	if len(s.names) > 0 {
		return "what ${" + strings.Join(s.names, "} and ${") + "} holds"
	}
	if len(s.text) > longestShown || strings.Contains(s.text, "\n") {
		return "what is written here" // which may have run into the lines below
	}
	return strconv.Quote(s.text)
}

// mismatch is why a value cannot be read, and the mend.
type mismatch struct{ message, mend string }

// scalar decodes a single value into dst and checks it against the bounds in its tag.
func (d *decoder) scalar(key string, node ast.Node, dst reflect.Value, tag reflect.StructTag) {
	at := d.at[key]
	s, ok := scalarOf(node)
	if !ok {
		d.source.hide(node, dst.Type())
		d.problem(at, key, "must be a single value, not "+describe(node), "")
		return
	}
	if strings.Contains(s.text, "${") {
		expanded, wrong := expand(s.text, d.env)
		if wrong != nil {
			switch {
			case !wrong.unset || dst.Type() != reflect.TypeFor[Secret]():
			case strings.Contains(key, ".stripe."):
				wrong.mend = "set it to the one that Stripe shows (docs/payments.md)"
			default:
				wrong.mend = "set it; " + secretMend
			}
			d.problem(at, key, wrong.message, wrong.mend)
			return
		}
		d.foreign = append(d.foreign, expanded.values...)
		s.text, s.names = expanded.text, expanded.names
		if len(s.names) > 0 {
			s.form = anyText
		}
	}
	wrong := assign(s, dst, tag)
	if wrong == nil {
		wrong = outOfBounds(dst, tag)
	}
	if wrong == nil {
		wrong = notBuilt(key, dst)
	}
	if wrong != nil {
		d.problem(at, key, wrong.message, wrong.mend)
	}
}

// assign reads a value as the type of dst.
func assign(s scalar, dst reflect.Value, tag reflect.StructTag) *mismatch {
	switch target := dst.Addr().Interface().(type) {
	case *time.Duration:
		return assignDuration(s, target)
	case *Size:
		return assignSize(s, target)
	case *time.Time:
		return assignTime(s, target)
	case *netip.Prefix:
		return assignPrefix(s, target)
	case *bool:
		if s.text != "true" && s.text != "false" || s.quoted && s.form != anyText {
			return &mismatch{fmt.Sprintf("must be true or false, not %s", s), ""}
		}
		*target = s.text == "true"
		return nil
	case *Secret:
		if s.form == number || s.form == boolean {
			return &mismatch{"must be text, and YAML reads this as a number or a truth value", "write it in quotes"}
		}
		*target = Secret(s.text)
		return nil
	}
	if dst.Kind() == reflect.String {
		return assignText(s, dst, tag)
	}
	return assignNumber(s, dst, tag)
}

func assignText(s scalar, dst reflect.Value, tag reflect.StructTag) *mismatch {
	if whenTrue, whenFalse, ok := strings.Cut(tag.Get("bool"), "|"); ok && !s.quoted {
		switch s.text {
		case "true":
			s.text, s.form = whenTrue, plainText
		case "false":
			s.text, s.form = whenFalse, plainText
		}
	}
	if s.form == number || s.form == boolean {
		if words := tag.Get("oneof"); words != "" {
			return &mismatch{fmt.Sprintf("must be one of %s, not %s", list(words), s), ""}
		}
		return &mismatch{fmt.Sprintf("must be text, and YAML reads %s as a number or a truth value", s.text),
			fmt.Sprintf("write %q in quotes", s.text)}
	}
	if strings.ContainsRune(s.text, 0) {
		return &mismatch{"holds a NUL character", "remove it"}
	}
	dst.SetString(s.text)
	return nil
}

// wholeNumber is a number as it is written in the file: YAML's 0x10, 1e3 and 1_000 only invite mistakes.
var wholeNumber = regexp.MustCompile(`^[+-]?(0|[1-9][0-9]*)$`)

func assignNumber(s scalar, dst reflect.Value, _ reflect.StructTag) *mismatch {
	if s.form == plainText && s.quoted && wholeNumber.MatchString(s.text) {
		return &mismatch{"must be a number, not text", fmt.Sprintf("write %s without quotes", s.text)}
	}
	n, err := strconv.ParseInt(s.text, 10, 64)
	if !wholeNumber.MatchString(s.text) || err != nil || dst.OverflowInt(n) {
		return &mismatch{fmt.Sprintf("must be a whole number, not %s", s), ""}
	}
	dst.SetInt(n)
	return nil
}

func assignDuration(s scalar, dst *time.Duration) *mismatch {
	if s.form == number || s.text != "0" && wholeNumber.MatchString(s.text) {
		if len(s.names) > 0 {
			return &mismatch{fmt.Sprintf("%s has no unit", s), "write a duration into it, such as 10s, 2m or 1h30m"}
		}
		return &mismatch{"has no unit", fmt.Sprintf("write %[1]ss instead of %[1]s (or %[1]sms, %[1]sm, %[1]sh)", s.text)}
	}
	parsed, err := time.ParseDuration(s.text)
	if err != nil {
		return &mismatch{fmt.Sprintf("must be a duration, not %s", s), "write one such as 500ms, 10s, 2m or 1h30m; there are no days"}
	}
	*dst = parsed
	return nil
}

var sizePattern = regexp.MustCompile(`^([0-9]{1,18})(B|KiB|MiB|GiB)$`)

func assignSize(s scalar, dst *Size) *mismatch {
	m := sizePattern.FindStringSubmatch(s.text)
	if m == nil {
		return &mismatch{fmt.Sprintf("must be a size with its unit, not %s", s), "write one such as 512B, 32KiB, 10MiB or 1GiB"}
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	for _, unit := range sizeUnits {
		if unit.name == m[2] {
			if err != nil || n > math.MaxInt64/int64(unit.size) {
				return &mismatch{"is too large", ""}
			}
			*dst = Size(n) * unit.size
		}
	}
	return nil
}

func assignTime(s scalar, dst *time.Time) *mismatch {
	if s.text == "" && len(s.names) > 0 {
		return nil // ${OPENS_AT:-}: not set
	}
	parsed, err := time.Parse(time.RFC3339, s.text)
	if err != nil {
		return &mismatch{fmt.Sprintf("must be a time with its zone, not %s", s), "write one such as 2026-12-01T10:00:00+01:00"}
	}
	*dst = parsed
	return nil
}

func assignPrefix(s scalar, dst *netip.Prefix) *mismatch {
	parsed, err := netip.ParsePrefix(s.text)
	if err == nil && parsed != parsed.Masked() && len(s.names) == 0 {
		return &mismatch{fmt.Sprintf("has address bits beyond its length: %s", s.text), "write " + parsed.Masked().String()}
	}
	if err == nil {
		*dst = parsed.Masked()
		return nil
	}
	if addr, addrErr := netip.ParseAddr(s.text); addrErr == nil && addr.Zone() == "" && len(s.names) == 0 {
		return &mismatch{fmt.Sprintf("%s has no length", s.text), fmt.Sprintf("write %s/%d", s.text, addr.BitLen())}
	}
	return &mismatch{fmt.Sprintf("must be a CIDR, not %s", s), "write one such as 192.0.2.0/24"}
}
