package admission

import "time"

// Tick is how often each replica syncs a gate with its store.
const Tick = 100 * time.Millisecond

// HoldMargin is how much longer than Max + Hold a lease with a hold may last.
const HoldMargin = time.Minute

// Mode says what a gate does with visitors.
type Mode string

// The modes of a gate.
const (
	ModeOn     Mode = "on"     // admit at most Capacity, queue the rest
	ModeOff    Mode = "off"    // everyone passes, nothing is counted
	ModePaused Mode = "paused" // tickets are given, nothing is offered, those inside stay
	ModeShadow Mode = "shadow" // tickets and leases as in on, but every request is forwarded
)

// Rules are a gate's settings as its store needs them. Times are judged by the store's clock.
type Rules struct {
	Capacity  int       // K: offers and leases at once, over all replicas
	AdmitRate int       // offers per minute; 0: no limit. Never piles up: one second's worth at most, at least one
	Mode      Mode      //
	OpensAt   time.Time // zero: open from the start; before it tickets are given and nothing is offered
	ClosesAt  time.Time // zero: never; from it on no ticket and no offer is given

	Idle  time.Duration // a lease ends 1.25 × Idle + Leeway after the last renewal
	Max   time.Duration // and at the latest so long after it started
	Claim time.Duration // how long an offer, and an unconfirmed lease, lasts
	Hold  time.Duration // hold_ttl of the embedded shop: Renew may carry a lease to Max + Hold + 1 min; 0 without one

	QueueMax int           // so many may wait
	Keep     time.Duration // how long the place of somebody silent is kept
	Returns  int           // how often an offer may lapse before the next lapse ends the ticket
	PollMin  time.Duration // the shortest interval a visitor is told (near family)
	PollMax  time.Duration // and the longest (far family)

	Leeway time.Duration // between the end of a pass and of its lease; at most Claim / 4
}

// NearWindow is the length of one liveness window of the near family.
func (r Rules) NearWindow() time.Duration { return r.PollMin*3/2 + 200*time.Millisecond }

// FarWindow is the length of one liveness window of the far family.
func (r Rules) FarWindow() time.Duration { return r.PollMax * 6 / 5 }

// PassLife is the longest a pass lives from the moment it is issued: 1.25 × Idle.
func (r Rules) PassLife() time.Duration { return r.Idle * 5 / 4 }

// LeaseLife is what one renewal gives a lease: the life of a pass and the leeway.
func (r Rules) LeaseLife() time.Duration { return r.PassLife() + r.Leeway }
