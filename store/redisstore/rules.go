package redisstore

import (
	"strconv"
	"time"

	"foyer/admission"
)

// encode puts rules into the order of RULES in lua/prelude.lua; times and durations are milliseconds.
func encode(r admission.Rules) []any {
	return []any{
		r.Capacity, r.AdmitRate, string(r.Mode), millis(r.OpensAt), millis(r.ClosesAt),
		r.Idle.Milliseconds(), r.Max.Milliseconds(), r.Claim.Milliseconds(), r.Hold.Milliseconds(), r.QueueMax,
		r.Keep.Milliseconds(), r.Returns, r.PollMin.Milliseconds(), r.PollMax.Milliseconds(), r.Leeway.Milliseconds(),
	}
}

// rules reads what encode wrote.
func (r *reader) rules() (rules admission.Rules) {
	values := r.list()
	rules.Capacity, rules.AdmitRate, rules.Mode = int(values.int()), int(values.int()), admission.Mode(values.text())
	rules.OpensAt, rules.ClosesAt = values.time(), values.time()
	rules.Idle, rules.Max, rules.Claim, rules.Hold = values.duration(), values.duration(), values.duration(), values.duration()
	rules.QueueMax, rules.Keep, rules.Returns = int(values.int()), values.duration(), int(values.int())
	rules.PollMin, rules.PollMax, rules.Leeway = values.duration(), values.duration(), values.duration()
	r.failed(values)
	return rules
}

// optional is a value of a Change; nil keeps the key.
func optional[V ~int | ~string](value *V) any {
	if value == nil {
		return ""
	}
	return *value
}

// flag is a yes or no as scripts read it.
func flag(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// millis are Unix milliseconds; the zero time is 0.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }
