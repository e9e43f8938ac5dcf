package admission

import (
	"maps"
	"slices"
	"sync"
)

// beyondTail is how far above the highest known ticket a poll still counts: other replicas give out tickets too, but a
// number from nowhere must not cost memory.
const beyondTail = 1 << 20

// marks collects what a replica sees between two Syncs: one bit a poll. It is safe for concurrent use.
type marks struct {
	mu        sync.Mutex
	base      Ticket
	top       Ticket // higher tickets do not count
	near, far Bitmap
	confirmed map[Ticket]struct{}
	highest   Proof // of the highest ticket above the tail
	foreign   Proof // of the pass of another round that lives longest
}

// poll notes that a ticket is live in a family.
func (m *marks) poll(t Ticket, family Family) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t < m.base || t > m.top {
		return
	}
	if family == Near {
		m.near.Set(t)
	} else {
		m.far.Set(t)
	}
}

// confirm notes that the visitor of a lease has shown its token.
func (m *marks) confirm(t Ticket) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.confirmed == nil {
		m.confirmed = make(map[Ticket]struct{})
	}
	m.confirmed[t] = struct{}{}
}

// vouch notes a token that the line knows nothing of although it is validly signed.
func (m *marks) vouch(p Proof, ours bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case ours && p.Ticket > m.highest.Ticket:
		m.highest = p
	case !ours && p.Expires.After(m.foreign.Expires):
		m.foreign = p
	}
}

// proofs answers with what was noted by vouch and forgets it.
func (m *marks) proofs() (list []Proof) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range []*Proof{&m.highest, &m.foreign} {
		if p.Ticket != 0 {
			list = append(list, *p)
			*p = Proof{}
		}
	}
	return list
}

// follow takes over where the line begins and ends.
func (m *marks) follow(base, tail Ticket) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if base != m.base {
		m.near, m.far = m.near.Rebase(base), m.far.Rebase(base)
	}
	m.base, m.top = base, tail+beyondTail
}

// take answers with all marks and forgets them.
func (m *marks) take() (near, far Bitmap, confirmed []Ticket) {
	m.mu.Lock()
	defer m.mu.Unlock()
	near, far, confirmed = m.near, m.far, slices.Sorted(maps.Keys(m.confirmed))
	m.near, m.far, m.confirmed = Bitmap{Base: m.base}, Bitmap{Base: m.base}, nil
	return near, far, confirmed
}

// giveBack takes over marks again that did not reach the store, or may not have.
func (m *marks) giveBack(near, far Bitmap, confirmed []Ticket) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.near = union(m.near, near.Rebase(m.base)).Clone()
	m.far = union(m.far, far.Rebase(m.base)).Clone()
	for _, t := range confirmed {
		if m.confirmed == nil {
			m.confirmed = make(map[Ticket]struct{})
		}
		m.confirmed[t] = struct{}{}
	}
}
