package strategy

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"foyer/origin"
)

// mendTries is how often the reconciler looks at an event whose counter is being used.
const mendTries = 4

// reconciler compares the counter of one event with the ledger.
//
// It mends in two ways. A take that the ledger has an answer for is resolved by that answer, one by one and by hold id,
// which is safe whatever else goes on. What is then still wrong has no take to explain it (the counter was restored, or a
// hold went to the ledger without it): then the difference is added, but only if it was the same before and after all
// takes were looked at and nothing moved in between. Else it is left for the next time.
type reconciler struct {
	counter counter
	ledger  Ledger
	grace   time.Duration
	event   string
	build   func(ctx context.Context, event string) error
}

// comparison is a counter beside the ledger.
type comparison struct {
	reading
	stock   origin.Stock
	pending int64 // takes whose row is still to come
	waiting int64 // their units
}

// drift is counter − remaining.
func (c comparison) drift() int64 { return c.remaining - c.stock.Remaining() }

// gap is the drift that no pending take explains.
func (c comparison) gap() int64 { return c.drift() + c.waiting }

// report compares and mends nothing.
func (r *reconciler) report(ctx context.Context) (origin.Reconciliation, error) {
	report := origin.Reconciliation{Event: r.event}
	now, err := r.compare(ctx)
	if errors.Is(err, errUnbuilt) {
		return report, nil
	}
	if err != nil {
		return report, err
	}
	report.Counter, report.Pending, report.Checked = &now.remaining, now.pending, now.takes
	report.DriftBefore, report.DriftAfter = now.drift(), now.drift()
	return report, nil
}

// mend compares and mends.
func (r *reconciler) mend(ctx context.Context) (origin.Reconciliation, error) {
	report, err := r.report(ctx)
	if err != nil {
		return report, err
	}
	before, err := r.compareBuilt(ctx)
	if err != nil || before.stock.ID == "" {
		return report, err
	}
	now := before
	for range mendTries {
		checked, returned, err := r.resolveTakes(ctx, now)
		if err != nil {
			return report, err
		}
		report.Checked = checked
		report.StrandedReturned += returned
		if now, err = r.compare(ctx); err != nil {
			return report, err
		}
		if now.gap() == 0 {
			break
		}
		if now.gap() == before.gap() && now.seq == before.seq {
			if err := r.counter.mend(ctx, r.event, now.reading, -now.gap()); err != nil {
				return report, err
			}
		}
		before = now
	}
	report.Counter, report.Pending, report.DriftAfter = &now.remaining, now.pending, now.drift()
	return report, nil
}

// compareBuilt compares with a counter of the ledger's epoch, built first where there is none.
func (r *reconciler) compareBuilt(ctx context.Context) (comparison, error) {
	now, err := r.compare(ctx)
	if err == nil && now.epoch == now.stock.Epoch || err != nil && !errors.Is(err, errUnbuilt) {
		return now, err
	}
	if err := r.build(ctx, r.event); err != nil {
		return comparison{}, err
	}
	now, err = r.compare(ctx)
	if errors.Is(err, errUnbuilt) {
		return comparison{}, nil // another replica is about to, or there is no such event
	}
	return now, err
}

// compare reads the counter, and then the ledger.
func (r *reconciler) compare(ctx context.Context) (comparison, error) {
	read, err := r.counter.read(ctx, r.event)
	if err != nil {
		return comparison{}, err
	}
	ids := make([]string, len(read.pending))
	for i, t := range read.pending {
		ids[i] = t.hold
	}
	stock, rows, err := r.ledger.Standing(ctx, r.event, ids)
	if err != nil {
		return comparison{}, err
	}
	now := comparison{reading: read, stock: stock}
	for _, t := range read.pending {
		row, written := rows[t.hold]
		if !written {
			now.pending++
		}
		if !written || becameOf(row) == takeFree {
			now.waiting += t.units
		}
	}
	return now, nil
}

// resolveTakes goes through all takes of the event and resolves those that the ledger has an answer for, voiding those
// that have been pending for longer than the grace. It returns how many it looked at and the units it gave back.
func (r *reconciler) resolveTakes(ctx context.Context, now comparison) (checked, returned int64, err error) {
	young := make(map[string]bool, len(now.reading.pending))
	for _, t := range now.reading.pending {
		young[t.hold] = t.age < r.grace
	}
	err = r.counter.walk(ctx, r.event, func(some []take) error {
		checked += int64(len(some))
		given, err := r.resolveSome(ctx, some, young, now.last)
		returned += given
		return err
	})
	return checked, returned, err
}

// resolveSome resolves takes; young are those that were pending at a moment, and whether they are to be left; last is the last
// entry of that moment.
func (r *reconciler) resolveSome(ctx context.Context, some []take, young map[string]bool, last string) (int64, error) {
	ids := make([]string, len(some))
	for i, t := range some {
		ids[i] = t.hold
	}
	_, rows, err := r.ledger.Standing(ctx, r.event, ids)
	if err != nil {
		return 0, err
	}
	became := map[string]string{}
	var stranded []origin.HoldRequest
	for _, t := range some {
		row, written := rows[t.hold]
		isYoung, wasPending := young[t.hold]
		switch {
		case written && (t.entry != "" || becameOf(row) != takeHeld):
			became[t.hold] = becameOf(row)
		case !written && !isYoung && (wasPending || !t.after(last)): // else it was taken meanwhile
			stranded = append(stranded, origin.HoldRequest{ID: t.hold, Event: r.event, Quantity: t.units})
		}
	}
	if len(stranded) > 0 {
		rows, err := r.ledger.Void(ctx, r.event, stranded, origin.SoldOut)
		if err != nil {
			return 0, err
		}
		for id, row := range rows {
			became[id] = becameOf(row)
		}
	}
	given, err := r.counter.resolve(ctx, r.event, resolution{became: became})
	if errors.Is(err, errUnbuilt) {
		return 0, nil
	}
	return given, err
}

// after tells whether a take was made after the entry of an id.
func (t take) after(last string) bool {
	at, n := partsOf(t.entry)
	lastAt, lastN := partsOf(last)
	return at > lastAt || at == lastAt && n > lastN
}

// partsOf are the parts of a stream's id: Unix milliseconds, and a number within them. Both are 0 where there is none.
func partsOf(id string) (at, n uint64) {
	made, number, _ := strings.Cut(id, "-")
	at, _ = strconv.ParseUint(made, 10, 64)
	n, _ = strconv.ParseUint(number, 10, 64)
	return at, n
}
