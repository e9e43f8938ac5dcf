package invariants

// Limit is how many rows of one invariant are to be named: who reads them needs no more, and memory stays constant.
const Limit = 1000

// Invariant is a sentence about the ledger and the query for what breaks it. The query answers with the event, the row
// and, in words, what is wrong with it. In one that is Timed, $1 is the moment, in the database's own form, before which
// what is still unsettled should have been begun.
type Invariant struct {
	Name  string
	Query string
	Timed bool
}

// holding are the states of a hold whose units are held.
const holding = `('pending', 'active', 'paying')`

// All lists the invariants.
func All() []Invariant { return append(append(counts(), orders()...), attempts()...) }

// counts: what is kept beside the rows is what the rows add up to.
func counts() []Invariant {
	return []Invariant{
		{"held + sold <= capacity", `
			select id, id, 'held ' || held || ' and sold ' || sold || ' of ' || capacity from events
			where held + sold > capacity`, false},
		{"an event's held is the units of its holds that hold, its sold those of its sold ones", `
			select e.id, e.id, 'held ' || e.held || ' and sold ' || e.sold || ', in rows ' || coalesce(r.held, 0) || ' and ' || coalesce(r.sold, 0)
			from events e left join (
				select event, sum(case when state in ` + holding + ` then quantity else 0 end) as held,
					sum(case when state = 'sold' then quantity else 0 end) as sold
				from holds group by event
			) r on r.event = e.id
			where (e.held <> coalesce(r.held, 0) or e.sold <> coalesce(r.sold, 0))`, false},
		{"a buyer's units are those of his holds and orders", `
			select event, buyer, 'units ' || sum(counted) || ', in rows ' || sum(found) from (
				select event, buyer, units as counted, 0 as found from buyers
				union all
				select event, buyer, 0, quantity from holds where state in ('pending', 'active', 'paying', 'sold')
			) units
			group by event, buyer having sum(counted) <> sum(found)`, false},
	}
}

// orders: a sold hold, its order and the attempt that paid it say the same.
func orders() []Invariant {
	return []Invariant{
		{"a sold hold has one order", `
			select h.event, h.id, 'sold without an order' from holds h left join orders o on o.hold = h.id
			where h.state = 'sold' and o.id is null`, false},
		{"an order is that of its sold hold", `
			select o.event, o.id, 'hold ' || o.hold || ' is ' || coalesce(h.state, 'missing') || ', or of another buyer, quantity or amount'
			from orders o left join holds h on h.id = o.hold
			where h.id is null or h.state <> 'sold' or h.event <> o.event or h.buyer <> o.buyer or h.quantity <> o.quantity or h.amount <> o.amount`, false},
		{"an order was paid by an attempt for its hold, of its amount", `
			select o.event, o.id, 'attempt ' || o.attempt || ' is ' || coalesce(a.state, 'missing') || ', or of another hold or amount'
			from orders o left join attempts a on a.id = o.attempt
			where (a.id is null or a.hold <> o.hold or a.amount <> o.amount or a.refunded <> o.refunded
				or a.state not in ('paid', 'refund_due', 'refunded'))`, false},
	}
}

// attempts: money is for an order or on its way back, and no payment is left alone.
func attempts() []Invariant {
	return []Invariant{
		{"a paid attempt has an order", `
			select a.event, a.id, 'charged as ' || a.charge || ' for nothing' from attempts a left join orders o on o.attempt = a.id
			where a.state = 'paid' and o.id is null`, false},
		{"a refunded attempt says how much", `
			select event, id, 'refunded ' || refunded || ' of ' || amount from attempts
			where (state = 'refunded') <> (refunded > 0) and amount > 0`, false},
		{"an open attempt's hold is paying, or sold by another attempt", `
			select a.event, a.id, 'hold ' || a.hold || ' is ' || coalesce(h.state, 'missing') from attempts a left join holds h on h.id = a.hold
			where a.state = 'open' and (h.id is null or h.state not in ('paying', 'sold'))`, false},
		{"a paying hold has an open attempt", `
			select h.event, h.id, 'paying without one' from holds h left join attempts a on a.hold = h.id and a.state = 'open'
			where h.state = 'paying' and a.id is null`, false},
		{"a payment is settled in time", `
			select event, id, 'still ' || state from attempts
			where state in ('open', 'refund_due') and created_at < $1`, true},
	}
}
