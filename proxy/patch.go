package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"foyer/admission"
)

const maxCapacity = 10_000_000 // of a gate, as in the configuration

// patch is the body of a PATCH.
type patch struct {
	Mode      *admission.Mode `json:"mode"`
	Capacity  *int            `json:"capacity"`
	AdmitRate *int            `json:"admit_rate"`
	Stock     *int            `json:"stock"` // what is left to sell, for an upstream that cannot say so: nobody is sent to it
}

// readChange reads the body of a PATCH: no other keys, nothing after it, no value that a gate could not have.
func readChange(body io.Reader) (change admission.Change, left *int, err error) {
	var wire patch
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&wire); err != nil {
		return admission.Change{}, nil, unread(err)
	}
	if _, more := decoder.Token(); !errors.Is(more, io.EOF) {
		return admission.Change{}, nil, errors.New("there is something after the object")
	}
	change = admission.Change{Mode: wire.Mode, Capacity: wire.Capacity, AdmitRate: wire.AdmitRate}
	return change, wire.Stock, wire.check()
}

// unread says in words why a body could not be read.
func unread(err error) error {
	// encoding/json has no type of error for a key that it does not know.
	if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		return fmt.Errorf("there is no field %s: a gate takes mode, capacity, admit_rate and stock", name)
	}
	var other *json.UnmarshalTypeError
	if errors.As(err, &other) && takes[other.Field] != "" {
		return fmt.Errorf("%s is %s, not %s", other.Field, takes[other.Field], other.Value)
	}
	return errors.New(`the body is not one JSON object, such as {"mode": "paused", "capacity": 80}`)
}

// takes is what each field may be.
var takes = map[string]string{
	"mode":       "one of on, off, paused, shadow",
	"capacity":   fmt.Sprintf("a whole number from 1 to %d", maxCapacity),
	"admit_rate": fmt.Sprintf("a whole number from 0 to %d", math.MaxInt32),
	"stock":      "a whole number from 0 on",
}

// check says which value no gate could have.
func (p patch) check() error {
	modes := []admission.Mode{admission.ModeOn, admission.ModeOff, admission.ModePaused, admission.ModeShadow}
	wrong := ""
	switch {
	case p.Mode != nil && !slices.Contains(modes, *p.Mode):
		wrong = "mode"
	case p.Capacity != nil && (*p.Capacity < 1 || *p.Capacity > maxCapacity):
		wrong = "capacity"
	case p.AdmitRate != nil && (*p.AdmitRate < 0 || *p.AdmitRate > math.MaxInt32):
		wrong = "admit_rate"
	case p.Stock != nil && *p.Stock < 0:
		wrong = "stock"
	default:
		return nil
	}
	return fmt.Errorf("%s is %s", wrong, takes[wrong])
}
