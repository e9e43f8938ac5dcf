package memstore

import "foyer/admission"

// window is a set of tickets that forgets: what is added stays for at least one length of time and at most two.
type window struct {
	this, last admission.Bitmap
	turned     int64 // when this began
}

// turn begins the next window if this one is over, and returns what is dropped.
func (w *window) turn(now, length int64) (dropped admission.Bitmap) {
	if now < w.turned+length {
		return admission.Bitmap{Base: w.this.Base}
	}
	dropped = w.last
	w.last, w.this, w.turned = w.this, admission.Bitmap{Base: w.this.Base}, now
	return dropped
}

func (w *window) has(t admission.Ticket) bool { return w.this.Has(t) || w.last.Has(t) }

func (w *window) clear(t admission.Ticket) {
	w.this.Clear(t)
	w.last.Clear(t)
}

// or adds what is in other, which counts from the same base.
func or(b *admission.Bitmap, other admission.Bitmap) {
	if missing := len(other.Bits) - len(b.Bits); missing > 0 {
		b.Bits = append(b.Bits, make([]byte, missing)...)
	}
	for i, octet := range other.Bits {
		b.Bits[i] |= octet
	}
}

// without takes out what is in other, which counts from the same base.
func without(b *admission.Bitmap, other admission.Bitmap) {
	for i := range min(len(b.Bits), len(other.Bits)) {
		b.Bits[i] &^= other.Bits[i]
	}
}

// within is b counted from base, without what is no ticket: zero, and those above tail.
func within(b admission.Bitmap, base, tail admission.Ticket) admission.Bitmap {
	b = b.Rebase(base)
	if tail < base {
		return admission.Bitmap{Base: base}
	}
	if n := int((tail-base)/8) + 1; len(b.Bits) >= n {
		b = admission.Bitmap{Base: base, Bits: append([]byte(nil), b.Bits[:n]...)}
		b.Bits[n-1] &= 0xff << (7 - (tail-base)%8)
	}
	if b.Has(0) {
		b = b.Clone()
		b.Clear(0)
	}
	return b
}
