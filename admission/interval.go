package admission

import (
	"math"
	"time"
)

// How far from the front a visitor counts as near, at least: so many times the capacity.
const nearCapacities = 5

// jitterShare is how far an interval varies to either side, so that those who came together do not poll together. It
// stays within Rules.NearWindow.
const jitterShare = 0.15

// nearLimit is the last position that is told the shortest interval: whoever may get a slot within two far windows,
// and at least the first five times the capacity.
func (v *view) nearLimit() int {
	reach := v.flow.Rate * 2 * v.snap.Rules.FarWindow().Seconds()
	return max(nearCapacities*v.snap.Rules.Capacity, v.free()+int(math.Ceil(reach)))
}

// pace is when somebody at a position is to ask again, and the family he counts in until then. dice is in [0, 1).
func (v *view) pace(position int, now time.Time, dice float64) (Family, time.Duration) {
	rules := v.snap.Rules
	if opens := rules.OpensAt; opens.Sub(now) > 2*rules.FarWindow() {
		return Far, jittered(rules.PollMax, dice, rules.PollMax)
	}
	limit := v.nearLimit()
	if position <= limit {
		return Near, jittered(rules.PollMin, dice, 0)
	}
	far := time.Duration(float64(rules.PollMin) * float64(position) / float64(limit))
	return Far, jittered(min(far, rules.PollMax), dice, rules.PollMax)
}

// jittered varies an interval, but not beyond most; 0: no such bound.
func jittered(d time.Duration, dice float64, most time.Duration) time.Duration {
	d = time.Duration(float64(d) * (1 + jitterShare*(2*dice-1)))
	if most > 0 {
		d = min(d, most)
	}
	return d
}
