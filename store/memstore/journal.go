package memstore

import "foyer/admission"

// How long the journal remembers: at least a minute, unless so much happens that it is cut.
const (
	journalKept = 60_000
	journalMost = 20_000
)

// journal says what happened to tickets at which step, for the replicas that have not heard of it.
type journal struct {
	entries []entry
	floor   uint64 // entries up to this step are forgotten
	mark    uint64 // the step reached at marked
	marked  int64
}

// entry is one ticket's end, or an offer that it missed.
type entry struct {
	seq    uint64
	ticket admission.Ticket
	missed bool
}

func (j *journal) add(e entry) { j.entries = append(j.entries, e) }

// after is what happened after a step; ok is false where that is forgotten.
func (j *journal) after(seq uint64) (entries []entry, ok bool) {
	if seq == 0 || seq < j.floor {
		return nil, false
	}
	from := len(j.entries)
	for from > 0 && j.entries[from-1].seq > seq {
		from--
	}
	return j.entries[from:], true
}

// trim forgets what is older than a minute or two.
func (j *journal) trim(seq uint64, now int64) {
	if now >= j.marked+journalKept {
		j.forget(j.mark)
		j.mark, j.marked = seq, now
	}
	if surplus := len(j.entries) - journalMost; surplus > 0 {
		j.forget(j.entries[surplus-1].seq)
	}
}

func (j *journal) forget(upTo uint64) {
	from := 0
	for from < len(j.entries) && j.entries[from].seq <= upTo {
		from++
	}
	j.entries = append([]entry(nil), j.entries[from:]...)
	j.floor = max(j.floor, upTo)
}
