package redisstore

import (
	"bytes"
	"errors"
	"testing"

	"foyer/admission"
)

// reply makes an answer of Redis from any bytes: each begins a text, a number, nothing, an error, or a list of what
// follows.
func reply(data []byte, depth int) (value any, rest []byte) {
	if len(data) == 0 {
		return nil, nil
	}
	kind, size, rest := data[0]%5, int(data[0]/5), data[1:]
	switch kind {
	case 0:
		size = min(size, len(rest))
		return string(rest[:size]), rest[size:]
	case 1:
		n := int64(0)
		for range min(size%9, len(rest)) {
			n, rest = n<<8|int64(rest[0]), rest[1:]
		}
		return n, rest
	case 2:
		return errors.New("ERR"), rest
	case 3:
		return nil, rest
	}
	list := []any{}
	for range size {
		if len(rest) == 0 || depth == 0 {
			break
		}
		var one any
		one, rest = reply(rest, depth-1)
		list = append(list, one)
	}
	return list, rest
}

// text and number are the seeds' way to say what reply reads.
func text(s string) []byte { return append([]byte{byte(5 * len(s))}, s...) }
func number(n byte) []byte { return []byte{1*5 + 1, n} }
func list(n byte) []byte   { return []byte{n*5 + 4} }
func join(parts ...[]byte) (all []byte) {
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

// Whatever a script answers, or something else in its place, it is a snapshot or an error, and costs no more memory than
// a line does.
func FuzzReply(f *testing.F) {
	head := join(text("ok"), text("run"), number(3), number(9), text("round"))
	line := join(number(9), number(0), number(4), text("\x07"), text("1 2 1 5 9 2 1 0 5 9"), number(8))
	rules := join(list(15), number(3), number(0), text("on"), bytes.Repeat(number(9), 12))
	whole := join(list(20), head, line, number(0), list(2), number(3), number(5), list(2), number(3), number(1), list(2), text("a"), number(4), rules, number(1))
	value, _ := reply(whole, 4)
	if r, standing := read(value); len(readSnapshot(r, standing).Slots) != 2 || r.err != nil {
		f.Fatalf("the seed is no answer to a Sync: %v", r.err)
	}
	f.Add(whole)
	f.Add(join(list(20), head, line, number(1), text("\xff"), list(0), list(0)))
	f.Add(join(list(20), head, line, number(0), list(1), []byte{8*5 + 1, 0x3f, 1, 1, 1, 1, 1, 1, 1})) // a ticket out of this world
	f.Add(join(list(2), text("lost"), text("seq")))
	f.Add([]byte{3})
	f.Fuzz(func(t *testing.T, data []byte) {
		value, _ := reply(data, 4)
		r, standing := read(value)
		snapshot := readSnapshot(r, standing)
		if r.err != nil {
			return
		}
		for i, slot := range snapshot.Slots {
			if i > 0 && snapshot.Slots[i-1].Ticket > slot.Ticket {
				t.Fatalf("slots out of order: %v", snapshot.Slots)
			}
		}
		if snapshot.Ended.Base != snapshot.Base || len(snapshot.Ended.Bits) > maxSpan/8+1 {
			t.Fatalf("ended from %d on, %d bytes", snapshot.Ended.Base, len(snapshot.Ended.Bits))
		}
		if _, impossible := snapshot.Missed[admission.Ticket(1<<63)]; impossible && snapshot.Tail < 1<<63 {
			t.Fatal("a ticket that was never given has missed an offer")
		}
	})
}
