package admission

import (
	"slices"
	"testing"
)

func TestMarks_TakeWhatWasSeenOnce(t *testing.T) {
	var m marks
	m.follow(64, 100)
	m.poll(70, Near)
	m.poll(90, Far)
	m.poll(10, Near)               // below the base
	m.poll(100+beyondTail+1, Near) // from nowhere
	m.confirm(80)
	near, far, confirmed := m.take()
	if near.Count() != 1 || !near.Has(70) || far.Count() != 1 || !far.Has(90) || !slices.Equal(confirmed, []Ticket{80}) {
		t.Errorf("near %v, far %v, confirmed %v", near, far, confirmed)
	}
	if near, far, confirmed := m.take(); near.Count()+far.Count()+len(confirmed) > 0 {
		t.Error("taken twice")
	}
}

func TestMarks_GiveBackWhatDidNotArrive(t *testing.T) {
	var m marks
	m.follow(64, 200)
	m.poll(70, Near)
	m.poll(140, Near)
	m.confirm(80)
	near, far, confirmed := m.take()
	m.poll(141, Near)
	m.follow(128, 300) // the base has moved on meanwhile
	m.giveBack(near, far, confirmed)
	near, _, confirmed = m.take()
	if near.Base != 128 || near.Count() != 2 || !near.Has(140) || !near.Has(141) || len(confirmed) != 1 {
		t.Errorf("near %v, confirmed %v", near, confirmed)
	}
}

func TestMarks_VouchForTheMostTelling(t *testing.T) {
	var m marks
	m.vouch(Proof{Ticket: 7}, true)
	m.vouch(Proof{Ticket: 9}, true)
	m.vouch(Proof{Ticket: 8}, true)
	m.vouch(Proof{Ticket: 3, Expires: now0}, false)
	m.vouch(Proof{Ticket: 4, Expires: now0.Add(-1)}, false)
	if got := m.proofs(); len(got) != 2 || got[0].Ticket != 9 || got[1].Ticket != 3 {
		t.Errorf("proofs %v", got)
	}
	if got := m.proofs(); len(got) != 0 {
		t.Errorf("again %v", got)
	}
}
