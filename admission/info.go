package admission

import "time"

// GateInfo is how a gate stands, for its operators.
type GateInfo struct {
	Gate              string
	Mode              Mode
	Capacity          int
	AdmitRate         int
	Active            int    // leases
	Offered           int    // offers
	Leaving           int    // slots that were given back and are free within two ticks
	Lapsed            int    // offers let lapse, of the tickets that may still come back
	Waiting           int    // live visitors in line
	Tail              Ticket // the last ticket given out
	Head              Ticket // the lowest that waits; 0: none
	AdmittedPerMinute float64
	Admitted          uint64 // leases given in this round
	Eta               *Eta   // of somebody who joins now; nil while unknown
	Round             string
	Store             string // "ok", "down", "lost"
	SoldOut           bool
	AsOf              time.Time // the store's time of all this
	GivesAt           time.Time // no slot is given before, because the store was lost; zero or past: they are given
}

// Info is how the gate stood at the last Sync.
func (r *Room) Info() GateInfo {
	v, now, rules := r.view.Load(), r.clock.now(), r.rules()
	info := GateInfo{
		Gate: r.gate, Mode: rules.Mode, Capacity: rules.Capacity, AdmitRate: rules.AdmitRate,
		Store: r.link.health().String(), SoldOut: r.soldOut(v),
	}
	if v == nil {
		return info
	}
	for _, slot := range v.snap.Slots {
		switch {
		case !now.Before(slot.Expires):
		case slot.Kind == Lease:
			info.Active++
		case slot.Kind == Offer:
			info.Offered++
		case slot.Kind == Leaving:
			info.Leaving++
		}
	}
	for _, n := range v.missed {
		info.Lapsed += n
	}
	info.AsOf, info.GivesAt = v.snap.Now, v.snap.Gives
	info.Waiting, info.Tail, info.Round = v.waiting(), v.snap.Tail, v.snap.Round
	info.Head, _ = v.snap.Waiting.Next(0)
	info.AdmittedPerMinute, info.Admitted = v.flow.PerMinute, v.snap.Admitted
	info.Eta = v.eta(v.waiting()+1, v.free(), now)
	return info
}
