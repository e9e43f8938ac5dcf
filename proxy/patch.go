package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

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
		return admission.Change{}, nil, err
	}
	if _, more := decoder.Token(); !errors.Is(more, io.EOF) {
		return admission.Change{}, nil, errors.New("there is something after the object")
	}
	change = admission.Change{Mode: wire.Mode, Capacity: wire.Capacity, AdmitRate: wire.AdmitRate}
	return change, wire.Stock, wire.check()
}

// check says which value no gate could have.
func (p patch) check() error {
	modes := []admission.Mode{admission.ModeOn, admission.ModeOff, admission.ModePaused, admission.ModeShadow}
	switch {
	case p.Mode != nil && !slices.Contains(modes, *p.Mode):
		return errors.New("mode is one of on, off, paused, shadow")
	case p.Capacity != nil && (*p.Capacity < 1 || *p.Capacity > maxCapacity):
		return fmt.Errorf("capacity is from 1 to %d", maxCapacity)
	case p.AdmitRate != nil && (*p.AdmitRate < 0 || *p.AdmitRate > math.MaxInt32):
		return fmt.Errorf("admit_rate is from 0 to %d", math.MaxInt32)
	case p.Stock != nil && *p.Stock < 0:
		return errors.New("stock is from 0 on")
	}
	return nil
}
