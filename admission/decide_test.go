package admission

import (
	"testing"
	"time"
)

// now0 is the instant of the tables below, and theRules those of their gate: passes of 150 s, leases 5 s longer.
var (
	now0     = time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	theRules = Rules{
		Capacity: 5, Mode: ModeOn, Idle: 2 * time.Minute, Max: 15 * time.Minute, Claim: 20 * time.Second,
		QueueMax: 4, Keep: time.Hour, PollMin: 2 * time.Second, PollMax: 30 * time.Second, Leeway: 5 * time.Second,
	}
)

// theView is a gate whose base is 64: ticket 60 has a lease of the round before, 70 is confirmed inside, 71 is not, 72 has
// an offer, 73 is leaving, 74 has let its offer run out, 75 has ended, 80 and 81 wait.
func theView(rules Rules) *view {
	lease := func(t Ticket, confirmed bool, age, left time.Duration) Slot {
		return Slot{Ticket: t, Kind: Lease, Confirmed: confirmed, Start: now0.Add(-age), Expires: now0.Add(left)}
	}
	snap := Snapshot{
		Standing: Standing{Run: "run", Round: "now", Now: now0}, Rules: rules, Tail: 90, Base: 64, EndedAll: true,
		Slots: []Slot{
			lease(60, true, 5*time.Minute, 2*time.Minute),
			lease(70, true, 5*time.Minute, 2*time.Minute),
			lease(71, false, time.Second, 19*time.Second),
			{Ticket: 72, Kind: Offer, Expires: now0.Add(10 * time.Second)},
			{Ticket: 73, Kind: Leaving, Expires: now0.Add(time.Second)},
			{Ticket: 74, Kind: Offer, Expires: now0},
		},
	}
	snap.Waiting.Base, snap.Ended.Base = 64, 64
	snap.Waiting.Set(80)
	snap.Waiting.Set(81)
	snap.Ended.Set(75)
	return newView(nil, snap, flow{})
}

// queueToken and pass are tokens of this round as they are held by then.
func queueToken(t Ticket) Token {
	return Token{Use: UseQueue, Round: "now", Ticket: t, Issued: now0.Add(-time.Minute), Expires: now0.Add(time.Minute)}
}

func passToken(t Ticket, age, left time.Duration) Token {
	return Token{Use: UsePass, Round: "now", Ticket: t, Issued: now0.Add(-age), Expires: now0.Add(left)}
}

func TestPlace_JudgesATicketByTheView(t *testing.T) {
	before := func(t Token) Token { t.Round = "before"; return t }
	justNow := func(t Token) Token { t.Issued = now0.Add(time.Millisecond); return t }
	for name, test := range map[string]struct {
		token Token
		gone  bool
		want  standing
	}{
		"waits":                              {queueToken(80), false, waiting},
		"was silent":                         {queueToken(82), false, waiting},
		"given out by another replica":       {queueToken(95), false, waiting},
		"ended":                              {queueToken(75), false, ended},
		"ended here":                         {queueToken(80), true, ended},
		"below the base":                     {queueToken(63), false, ended},
		"has an offer":                       {queueToken(72), false, offered},
		"let its offer run out":              {queueToken(74), false, waiting},
		"pass, claimed a moment ago":         {passToken(72, Tick, time.Minute), false, unlisted},
		"pass, offered anew":                 {passToken(72, time.Minute, time.Minute), false, offered},
		"has a lease":                        {queueToken(70), false, inside},
		"pass with a lease":                  {passToken(70, time.Minute, time.Minute), false, inside},
		"old pass with a lease":              {passToken(70, time.Hour, -time.Second), false, inside},
		"is leaving":                         {passToken(73, time.Minute, time.Minute), false, ended},
		"pass, no lease in sight":            {passToken(83, time.Minute, time.Minute), false, unlisted},
		"old pass, no lease in sight":        {passToken(83, time.Hour, 0), false, waiting},
		"pass of a ticket that has ended":    {passToken(75, Tick, time.Minute), false, ended},
		"round before, waited":               {before(queueToken(80)), false, ended},
		"round before, inside since":         {before(passToken(60, time.Minute, time.Minute)), false, inside},
		"round before, number inside now":    {before(passToken(70, time.Minute, time.Minute)), false, ended},
		"a round that the view has not seen": {justNow(before(queueToken(95))), false, waiting},
	} {
		t.Run(name, func(t *testing.T) {
			if got := theView(theRules).place(test.token, test.gone, now0); got.standing != test.want {
				t.Errorf("standing %d, want %d", got.standing, test.want)
			}
		})
	}
}

func TestDecide_SaysWhatARequestLeadsTo(t *testing.T) {
	closedRules, fullRules := theRules, theRules
	closedRules.ClosesAt, fullRules.QueueMax = now0, 2
	for name, test := range map[string]struct {
		rules   Rules
		token   Token
		join    bool
		soldOut bool
		act     act
		refusal Refusal
	}{
		"waits":                      {theRules, queueToken(80), true, false, actWait, NotRefused},
		"waits, closed":              {closedRules, queueToken(80), true, false, actRefuse, RefusedClosed},
		"waits, sold out":            {theRules, queueToken(80), true, true, actRefuse, RefusedSoldOut},
		"offered":                    {theRules, queueToken(72), false, false, actClaim, NotRefused},
		"offered, closed":            {closedRules, queueToken(72), false, false, actClaim, NotRefused},
		"offered, sold out":          {theRules, queueToken(72), false, true, actClaim, NotRefused},
		"inside":                     {theRules, passToken(70, 20*time.Second, 130*time.Second), false, false, actAdmit, NotRefused},
		"inside, a quarter of idle":  {theRules, passToken(70, 31*time.Second, 119*time.Second), false, false, actRenew, NotRefused},
		"inside, its pass is over":   {theRules, passToken(70, time.Hour, -time.Second), false, false, actRenew, NotRefused},
		"inside, no pass":            {theRules, queueToken(70), false, false, actRenew, NotRefused},
		"inside, not confirmed":      {theRules, passToken(71, time.Second, 14*time.Second), false, false, actRenew, NotRefused},
		"inside, sold out, closed":   {closedRules, passToken(70, time.Second, 149*time.Second), false, true, actAdmit, NotRefused},
		"admitted a moment ago":      {theRules, passToken(83, Tick, time.Minute), false, false, actAdmit, NotRefused},
		"no lease in sight for long": {theRules, passToken(83, time.Minute, time.Minute), false, false, actRenew, NotRefused},
		"ended":                      {theRules, queueToken(75), true, false, actJoin, NotRefused},
		"ended, not to join":         {theRules, queueToken(75), false, false, actRefuse, RefusedNoTicket},
		"ended, closed":              {closedRules, queueToken(75), true, false, actRefuse, RefusedClosed},
		"ended, sold out":            {theRules, queueToken(75), true, true, actRefuse, RefusedSoldOut},
		"ended, full":                {fullRules, queueToken(75), true, false, actRefuse, RefusedFull},
		"waits, full":                {fullRules, queueToken(80), true, false, actWait, NotRefused},
	} {
		t.Run(name, func(t *testing.T) {
			v := theView(test.rules)
			got, refusal := v.decide(test.token, v.place(test.token, false, now0), test.join, test.soldOut, now0)
			if got != test.act || refusal != test.refusal {
				t.Errorf("act %d, %q; want %d, %q", got, refusal, test.act, test.refusal)
			}
		})
	}
}

func TestDecide_AsksNothingInVainBeforeMax(t *testing.T) {
	rules := theRules
	rules.Max = 7 * time.Minute // two minutes are left of the lease of 70, and cannot become more
	v := theView(rules)
	token := passToken(70, 35*time.Second, 115*time.Second)
	if got, _ := v.decide(token, v.place(token, false, now0), false, false, now0); got != actAdmit {
		t.Errorf("act %d, want to admit as it is", got)
	}
}

func TestDecideAlone_HonoursAPassAndNothingElse(t *testing.T) {
	for name, test := range map[string]struct {
		token Token
		want  act
	}{
		"pass":             {passToken(70, time.Minute, time.Second), actAdmit},
		"pass, not listed": {passToken(83, time.Minute, time.Second), actAdmit},
		"old pass":         {passToken(70, time.Hour, 0), actWait},
		"offered":          {queueToken(72), actWait},
		"waits":            {queueToken(80), actWait},
		"pass that ended":  {passToken(75, time.Minute, time.Second), actRefuse},
		"nobody":           {Token{}, actRefuse},
	} {
		t.Run(name, func(t *testing.T) {
			v := theView(theRules)
			if got, _ := v.decideAlone(test.token, v.place(test.token, false, now0), now0); got != test.want {
				t.Errorf("act %d, want %d", got, test.want)
			}
		})
	}
}

func TestPassEnd_LeavesTheLeewayAndNeverOutlivesAPass(t *testing.T) {
	for _, test := range []struct{ lease, want time.Duration }{
		{20 * time.Second, 15 * time.Second},
		{155 * time.Second, 150 * time.Second},
		{10 * time.Minute, 150 * time.Second},
		{3 * time.Second, -2 * time.Second},
	} {
		if got := theRules.passEnd(now0.Add(test.lease), now0).Sub(now0); got != test.want {
			t.Errorf("a lease of %v gives a pass of %v, want %v", test.lease, got, test.want)
		}
	}
}

func TestPosition_CountsThoseWhoCameSinceAsWaiting(t *testing.T) {
	v := theView(theRules) // 80 and 81 wait, the tail is 90
	for _, test := range []struct {
		ticket, leased Ticket
		want           int
	}{
		{79, 0, 1}, {80, 0, 1}, {81, 0, 2}, {85, 0, 3}, {91, 0, 3}, {92, 0, 4}, {100, 0, 12}, {100, 95, 7}, {96, 95, 3},
	} {
		if got := v.position(test.ticket, test.leased); got != test.want {
			t.Errorf("ticket %d stands at %d, want %d", test.ticket, got, test.want)
		}
	}
}
