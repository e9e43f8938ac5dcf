package admission

import (
	"maps"
	"sync"
)

// deeds are the leases that calls from here have given or lengthened and that no snapshot shows yet: should the store
// be lost just now, nobody else knows of them. It is safe for concurrent use.
type deeds struct {
	mu   sync.Mutex
	open map[Ticket]deed
}

// deed is a slot as a call has left it.
type deed struct {
	slot Slot
	seq  uint64 // of the answer
}

// add remembers what a call has answered.
func (d *deeds) add(s Standing, slot Slot, err error) {
	if err != nil || slot.Kind != Lease {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		d.open = make(map[Ticket]deed)
	}
	d.open[slot.Ticket] = deed{slot: slot, seq: s.Seq}
}

// shown forgets what a snapshot of this step shows.
func (d *deeds) shown(seq uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.open, func(_ Ticket, one deed) bool { return one.seq <= seq })
}

// onto is a list of slots with the deeds put over it.
func (d *deeds) onto(slots []Slot) (all []Slot) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, slot := range slots {
		if _, newer := d.open[slot.Ticket]; !newer {
			all = append(all, slot)
		}
	}
	for _, one := range d.open {
		all = append(all, one.slot)
	}
	return all
}
