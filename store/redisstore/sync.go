package redisstore

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"foyer/admission"
)

// maxSpan is the longest line, from base to tail, that an answer is believed: its bitmaps have 128 MB.
const maxSpan = 1 << 30

// Sync brings the line and a replica up to date with each other, in one command.
func (s *Store) Sync(ctx context.Context, sync admission.Sync) (admission.Snapshot, error) {
	r, standing := s.run(ctx, syncScript, s.keys.all, sync.Seen,
		sync.Replica,
		decimal(uint64(sync.Near.Base)), sync.Near.Bits, decimal(uint64(sync.Far.Base)), sync.Far.Bits,
		tickets(sync.Confirmed), tickets(sync.Busy), decimal(sync.Since), said(sync.SoldOut))
	return answer(readSnapshot(r, standing), s, "sync", r)
}

// readSnapshot takes the answer to a Sync apart.
func readSnapshot(r *reader, standing admission.Standing) admission.Snapshot {
	snapshot := admission.Snapshot{Standing: standing, Tail: r.ticket(), Base: r.ticket(), Admitted: r.uint()}
	snapshot.Waiting = r.bits(snapshot.Base)
	snapshot.Slots = r.slots()
	snapshot.Gives = r.time()
	r.news(&snapshot)
	snapshot.Replicas = r.replicas()
	snapshot.Rules = r.rules()
	snapshot.SoldOut = r.int() == 1
	return snapshot
}

// said is what the shop has said of its stock, or nothing.
func said(soldOut *bool) any {
	if soldOut == nil {
		return ""
	}
	return flag(*soldOut)
}

// tickets are written one after the other, with spaces between.
func tickets(list []admission.Ticket) []byte {
	text := make([]byte, 0, 12*len(list))
	for _, t := range list {
		text = strconv.AppendUint(append(text, ' '), uint64(t), 10)
	}
	return text
}

// slots are ascending by ticket; Redis has them in no order.
func (r *reader) slots() []admission.Slot {
	var slots []admission.Slot
	var numbers [5]int64
	i := 0
	for field := range strings.FieldsSeq(r.text()) {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			r.fail()
			return nil
		}
		if numbers[i] = n; i < len(numbers)-1 {
			i++
			continue
		}
		i = 0
		slots = append(slots, admission.Slot{
			Ticket: admission.Ticket(numbers[0]), Kind: admission.Kind(numbers[1]), Confirmed: numbers[2] == 1,
			Start: moment(numbers[3]), Expires: moment(numbers[4]),
		})
	}
	slices.SortFunc(slots, func(a, b admission.Slot) int { return cmp.Compare(a.Ticket, b.Ticket) })
	return slots
}

// news are who has ended and who has missed an offer: whole, or what the replica has not heard of yet.
func (r *reader) news(snapshot *admission.Snapshot) {
	snapshot.EndedAll = r.int() == 1
	if snapshot.EndedAll {
		snapshot.Ended = r.bits(snapshot.Base)
	} else {
		snapshot.Ended = admission.Bitmap{Base: snapshot.Base}
		list := r.list()
		for list.more() {
			switch t := list.ticket(); {
			case t > snapshot.Tail || t >= snapshot.Base && t-snapshot.Base > maxSpan:
				list.fail() // nobody was given it; a bitmap up to it might be of any size
			case t >= snapshot.Base:
				snapshot.Ended.Set(t)
			}
		}
		r.failed(list)
	}
	snapshot.Missed = map[admission.Ticket]int{}
	list := r.list()
	for list.more() {
		if t, n := list.ticket(), int(list.int()); t >= snapshot.Base && n > 0 {
			snapshot.Missed[t] = n
		}
	}
	r.failed(list)
}

func (r *reader) replicas() map[string]time.Time {
	list, heard := r.list(), map[string]time.Time{}
	for list.more() {
		heard[list.text()] = list.time()
	}
	r.failed(list)
	return heard
}
