package admission

import (
	"encoding/binary"
	"math/bits"
)

// Bitmap is a set of tickets, one bit each, counted from Base. Bit 0 of byte 0 is its highest bit, as Redis has it, so
// that Bits travels to and from BITOP as it is. The zero value is the empty set.
type Bitmap struct {
	Base Ticket // a multiple of 64: the ticket of the first bit
	Bits []byte
}

// Has reports whether t is in the set.
func (b Bitmap) Has(t Ticket) bool {
	if t < b.Base {
		return false
	}
	i := uint64(t - b.Base)
	return i/8 < uint64(len(b.Bits)) && b.Bits[i/8]&(0x80>>(i%8)) != 0
}

// Set adds t, which must not lie below Base.
func (b *Bitmap) Set(t Ticket) {
	i := uint64(t - b.Base)
	for uint64(len(b.Bits)) <= i/8 {
		b.Bits = append(b.Bits, make([]byte, max(8, int(i/8)+1-len(b.Bits)))...)
	}
	b.Bits[i/8] |= 0x80 >> (i % 8)
}

// Clear takes t out.
func (b *Bitmap) Clear(t Ticket) {
	if b.Has(t) {
		i := uint64(t - b.Base)
		b.Bits[i/8] &^= 0x80 >> (i % 8)
	}
}

// Count is the number of tickets in the set.
func (b Bitmap) Count() int { return popcount(b.Bits) }

// CountBelow is the number of tickets in the set that are lower than t. It takes time linear in the distance from
// Base; a Rank answers the same from prefix sums.
func (b Bitmap) CountBelow(t Ticket) int {
	if t <= b.Base {
		return 0
	}
	i := uint64(t - b.Base)
	if i/8 >= uint64(len(b.Bits)) {
		return popcount(b.Bits)
	}
	return popcount(b.Bits[:i/8]) + bits.OnesCount8(b.Bits[i/8]&^(0xff>>(i%8)))
}

// Next is the lowest ticket in the set that is at least t; ok is false where there is none.
func (b Bitmap) Next(t Ticket) (next Ticket, ok bool) {
	i := uint64(0)
	if t > b.Base {
		i = uint64(t - b.Base)
	}
	for at := i / 8; at < uint64(len(b.Bits)); at++ {
		octet := b.Bits[at]
		if at == i/8 {
			octet &= 0xff >> (i % 8)
		}
		if octet != 0 {
			return b.Base + Ticket(at*8) + Ticket(bits.LeadingZeros8(octet)), true
		}
	}
	return 0, false
}

// Clone is a copy that shares nothing with b.
func (b Bitmap) Clone() Bitmap { return Bitmap{Base: b.Base, Bits: append([]byte(nil), b.Bits...)} }

// Rebase is the same set counted from base, a multiple of 64; tickets below it are left out.
func (b Bitmap) Rebase(base Ticket) Bitmap {
	switch {
	case base == b.Base:
		return b
	case base < b.Base:
		return Bitmap{Base: base, Bits: append(make([]byte, (b.Base-base)/8), b.Bits...)}
	case uint64(base-b.Base)/8 >= uint64(len(b.Bits)):
		return Bitmap{Base: base}
	default:
		return Bitmap{Base: base, Bits: append([]byte(nil), b.Bits[(base-b.Base)/8:]...)}
	}
}

// popcount counts the bits set, eight bytes at a time.
func popcount(octets []byte) (n int) {
	for ; len(octets) >= 8; octets = octets[8:] {
		n += bits.OnesCount64(binary.BigEndian.Uint64(octets))
	}
	for _, octet := range octets {
		n += bits.OnesCount8(octet)
	}
	return n
}
