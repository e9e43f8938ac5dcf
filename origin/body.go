package origin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const (
	maxBody     = 64 << 10
	maxQuantity = 1_000_000_000 // so that quantity × price stays an int64
)

// fields is a JSON object of a request, its values as they came.
type fields map[string]json.RawMessage

// readFields reads a body that must be one JSON object with no other than the allowed members, each at most once and
// spelled exactly so. It answers with a refusal and what is wrong, or NotRefused.
func readFields(w http.ResponseWriter, r *http.Request, allowed ...string) (fields, Refusal, string) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge, fmt.Sprintf("at most %d bytes", maxBody)
	case err != nil:
		return nil, badRequest, "the body could not be read"
	}
	found, err := parseFields(body, allowed)
	if err != nil {
		return nil, badRequest, err.Error()
	}
	return found, NotRefused, ""
}

// parseFields does what encoding/json does not: it minds case, repeated members and what follows the object.
func parseFields(body []byte, allowed []string) (fields, error) {
	if !json.Valid(body) {
		return nil, fmt.Errorf("the body is not one JSON object with %s", strings.Join(allowed, ", "))
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return nil, fmt.Errorf("the body is not one JSON object with %s", strings.Join(allowed, ", "))
	}
	found := fields{}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, errors.New("the body cannot be read")
		}
		member, _ := name.(string)
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, errors.New("the body cannot be read")
		}
		if !slices.Contains(allowed, member) {
			return nil, fmt.Errorf("unknown member %q: the body takes %s", member, strings.Join(allowed, ", "))
		}
		if _, twice := found[member]; twice {
			return nil, fmt.Errorf("member %q twice", member)
		}
		found[member] = value
	}
	return found, nil
}

// quantity reads an integer of at least 1: 400 for another type, 422 for another value.
func (f fields) quantity(name string) (int64, Refusal, string) {
	raw, given := f[name]
	if !given {
		return 0, invalidQuantity, name + " is missing"
	}
	if !isInteger(raw) {
		return 0, badRequest, name + " is not an integer"
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || n < 1 || n > maxQuantity {
		return 0, invalidQuantity, fmt.Sprintf("%s must be from 1 to %d", name, maxQuantity)
	}
	return n, NotRefused, ""
}

// word reads a non-empty string of printable characters.
func (f fields) word(name string, longest int) (string, Refusal, string) {
	raw, given := f[name]
	if !given {
		return "", badRequest, name + " is missing"
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil || raw[0] != '"' {
		return "", badRequest, name + " is not a string"
	}
	if text == "" || len(text) > longest || !printable(text) {
		return "", badRequest, name + " is not usable"
	}
	return text, NotRefused, ""
}

func isInteger(raw []byte) bool {
	digits := bytes.TrimPrefix(raw, []byte("-"))
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(digits) > 0
}

// printable tells whether a text has visible ASCII and spaces only.
func printable(text string) bool {
	for i := range len(text) {
		if text[i] < 0x20 || text[i] > 0x7e {
			return false
		}
	}
	return true
}
