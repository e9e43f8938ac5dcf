package storetest

import (
	"fmt"
	"strings"
	"time"

	"foyer/admission"
)

// text writes replies so that two stores, and two runs, write the same: without the incarnation, and with times counted
// from origin.
type text struct{ origin time.Time }

// of is any reply of a verb.
func (w text) of(reply any) string {
	switch r := reply.(type) {
	case admission.Standing:
		return w.standing(r)
	case admission.Joined:
		return fmt.Sprintf("%s %s", w.joined(r), w.standing(r.Standing))
	case admission.Claimed:
		return fmt.Sprintf("%s %s", w.slot(r.Slot), w.standing(r.Standing))
	case admission.Snapshot:
		return w.snapshot(r)
	}
	return fmt.Sprint(reply)
}

func (w text) standing(s admission.Standing) string {
	return fmt.Sprintf("[%s step %d at %s]", s.Round, s.Seq, w.time(s.Now))
}

func (w text) joined(j admission.Joined) string {
	var words []string
	if j.N > 0 {
		words = append(words, span(j.First, j.First+admission.Ticket(j.N)-1))
	}
	if j.Leased > 0 {
		words = append(words, "leased", span(j.First, j.First+admission.Ticket(j.Leased)-1), "until", w.time(j.Expires))
	}
	if j.Refusal != "" {
		words = append(words, "refused", string(j.Refusal))
	}
	return strings.Join(words, " ")
}

func (w text) snapshot(s admission.Snapshot) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s tail %d base %d admitted %d", w.standing(s.Standing), s.Tail, s.Base, s.Admitted)
	fmt.Fprintf(&b, "\n  waiting %s\n  ended %s all %v", spans(members(s.Waiting)), spans(members(s.Ended)), s.EndedAll)
	for _, t := range sortedKeys(s.Missed) {
		fmt.Fprintf(&b, "\n  missed %d by %d", s.Missed[t], t)
	}
	for _, slot := range s.Slots {
		fmt.Fprintf(&b, "\n  %d %s since %s", slot.Ticket, w.slot(slot), w.time(slot.Start))
	}
	for _, replica := range sortedKeys(s.Replicas) {
		fmt.Fprintf(&b, "\n  %s at %s", replica, w.time(s.Replicas[replica]))
	}
	if s.SoldOut {
		b.WriteString("\n  sold out")
	}
	fmt.Fprintf(&b, "\n  gives from %s by %v", w.time(s.Gives), s.Rules)
	return b.String()
}

func (w text) slot(s admission.Slot) string {
	kind := [...]string{"no slot", "offer", "lease", "leaving"}[s.Kind]
	switch {
	case s.Kind == admission.NoSlot:
		return kind
	case s.Kind == admission.Lease && !s.Confirmed:
		kind = "unconfirmed lease"
	}
	return kind + " until " + w.time(s.Expires)
}

// time is how long after the origin, or "-" for no time.
func (w text) time(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Sub(w.origin).String()
}

// spans writes ascending tickets as "1-3 7", or "none".
func spans(tickets []admission.Ticket) string {
	if len(tickets) == 0 {
		return "none"
	}
	var words []string
	first := tickets[0]
	for i, t := range tickets {
		if i == len(tickets)-1 || tickets[i+1] != t+1 {
			words = append(words, span(first, t))
			if i < len(tickets)-1 {
				first = tickets[i+1]
			}
		}
	}
	return strings.Join(words, " ")
}

func span(first, last admission.Ticket) string {
	if first == last {
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d-%d", first, last)
}
