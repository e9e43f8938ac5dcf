package redisstore

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"foyer/admission"
)

// errShape is an answer that no script of ours gives.
var errShape = errors.New("answer has another shape")

// reader takes a script's answer apart, value by value; the first that is not as expected is kept in err.
type reader struct {
	rest []any
	err  error
}

// read begins with the standing that heads each answer, or with ErrLost.
func read(answer any) (*reader, admission.Standing) {
	values, _ := answer.([]any)
	r := &reader{rest: values}
	if word := r.text(); word == "lost" {
		r.err = fmt.Errorf("%w: %s", admission.ErrLost, r.text())
		return r, admission.Standing{}
	}
	return r, admission.Standing{Run: r.text(), Seq: r.uint(), Now: r.time(), Round: r.text()}
}

// next is the value at hand, or nil once something was wrong.
func (r *reader) next() any {
	if r.err != nil || len(r.rest) == 0 {
		r.fail()
		return nil
	}
	value := r.rest[0]
	r.rest = r.rest[1:]
	return value
}

func (r *reader) fail() {
	if r.err == nil {
		r.err = errShape
	}
}

// failed takes over what went wrong in a list.
func (r *reader) failed(list *reader) {
	if r.err == nil {
		r.err = list.err
	}
}

func (r *reader) text() string {
	text, ok := r.next().(string)
	if !ok {
		r.fail()
	}
	return text
}

// int is a number, or the text of one.
func (r *reader) int() int64 {
	switch value := r.next().(type) {
	case int64:
		return value
	case string:
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			return n
		}
	}
	r.fail()
	return 0
}

func (r *reader) uint() uint64             { return uint64(r.int()) }
func (r *reader) ticket() admission.Ticket { return admission.Ticket(r.int()) }
func (r *reader) time() time.Time          { return moment(r.int()) }
func (r *reader) duration() time.Duration  { return time.Duration(r.int()) * time.Millisecond }
func (r *reader) bits(base admission.Ticket) admission.Bitmap {
	return admission.Bitmap{Base: base, Bits: []byte(r.text())}
}

func (r *reader) list() *reader {
	values, ok := r.next().([]any)
	if !ok {
		r.fail()
	}
	return &reader{rest: values, err: r.err}
}

func (r *reader) more() bool { return r.err == nil && len(r.rest) > 0 }

// slot is the four values of a slot.
func (r *reader) slot(t admission.Ticket) admission.Slot {
	return admission.Slot{
		Ticket: t, Kind: admission.Kind(r.int()), Confirmed: r.int() == 1, Start: r.time(), Expires: r.time(),
	}
}
