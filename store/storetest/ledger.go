package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"foyer/origin"
	"foyer/store/strategy"
)

// LedgerStore is a ledger as the shop and the strategies see it, and two doors that only tests use.
type LedgerStore interface {
	origin.Ledger
	strategy.Ledger

	// Exec runs one statement beside all rules, as somebody at the database's own prompt would.
	Exec(ctx context.Context, statement string) error
	// Clock reads the database's clock.
	Clock(ctx context.Context) (time.Time, error)
}

// ledgerCases are the contract of a ledger, each on an empty one.
var ledgerCases = []struct {
	name string
	run  func(t *testing.T, l LedgerStore)
}{
	{"PutEvent_KeepsAResizeThroughARestart", putEventKeepsAResize},
	{"PutEvent_NeverGoesBelowWhatIsTaken", putEventNeverBelowTaken},
	{"Resize_RefusesBelowWhatIsTaken", resizeRefuses},
	{"Constraints_RefuseWhatBypassesTheRules", constraintsRefuse},
	{"RaiseEpoch_HasOneWinner", raiseEpochHasOneWinner},
	{"HoldGroup_AnswersEachMember", holdGroupAnswersEach},
	{"HoldGroup_NeverOversellsWithManyAtOnce", holdGroupNeverOversells},
	{"HoldGroup_RejectedWritesNothing", holdGroupRejected},
	{"HoldGroup_IsWholeAgainAfterARefusal", holdGroupIsWholeAgain},
	{"HoldPessimistic_NeverOversells", holdPessimisticNeverOversells},
	{"HoldConditional_NeverOversells", holdConditionalNeverOversells},
	{"Hold_SameIDTakesOnce", holdSameIDTakesOnce},
	{"Hold_LimitCountsAllHoldsOfABuyer", holdLimitCountsAll},
	{"Hold_EndsByTheLedgersClock", holdEndsByTheClock},
	{"Void_IsATombstone", voidIsATombstone},
	{"Void_LeavesAHoldThatExists", voidLeavesAHold},
	{"Standing_ReadsStockAndHolds", standingReads},
	{"Release_FreesOnce", releaseFreesOnce},
	{"MoveGroup_IsAsIfOneByOne", moveGroupOneByOne},
	{"MoveGroup_RejectedWritesNothing", moveGroupRejected},
	{"Expire_TwoReapersEndEachHoldOnce", expireTwoReapers},
	{"Expire_LeavesPayingAndLimitsItself", expireLeavesPaying},
	{"ReleaseExpirePay_ExactlyOneWins", exactlyOneWins},
	{"StartPayment_IsGuarded", startPaymentIsGuarded},
	{"StartPayment_OneOpenAttemptAtOnce", startPaymentOneOpen},
	{"KeepIntent_OnlyWhileOpen", keepIntentOnlyWhileOpen},
	{"Settle_PaidMakesOneOrder", settlePaidMakesOneOrder},
	{"Settle_DeclinedLeavesTheHoldPayable", settleDeclined},
	{"Settle_DeclinedAfterTheTimeFrees", settleDeclinedLate},
	{"Settle_PaidLateTakesASeatOrIsDueARefund", settlePaidLate},
	{"Settle_PaidLateGoesByTheNewLimit", settlePaidLateByTheNewLimit},
	{"Settle_UnknownAttemptIsZero", settleUnknown},
	{"Open_HandsEachAttemptToOne", openHandsToOne},
	{"RefundDue_IsFoundAndFinished", refundDueIsFound},
	{"Refunded_NotesOnce", refundedNotesOnce},
	{"KeepWebhook_AppliesOnce", keepWebhookAppliesOnce},
	{"Check_FindsNothingInASoundLedger", checkFindsNothing},
	{"Check_NamesTheRowThatBreaksAnInvariant", checkNamesRows},
	{"Check_NamesAPaymentThatIsNotSettled", checkNamesUnsettled},
	{"ClaimKey_OneRunsTheOthersWait", claimKeyOneRuns},
	{"ClaimKey_TakesOverWithAFence", claimKeyTakesOver},
	{"KeepAnswer_ReplaysToTheByte", keepAnswerReplays},
	{"DropKey_RunsAgain", dropKeyRunsAgain},
	{"ForgetKey_RunsAnyRequest", forgetKeyRunsAnyRequest},
	{"SweepKeys_LeavesWhatIsClaimed", sweepKeys},
}

// Ledger is the suite of origin.Ledger and strategy.Ledger. open returns an empty one, closed at the test's end.
func Ledger(t *testing.T, open func(t *testing.T) LedgerStore) {
	for _, c := range ledgerCases {
		t.Run(c.name, func(t *testing.T) { c.run(t, open(t)) })
	}
}

// event puts an event on sale.
func event(t *testing.T, l origin.Ledger, id string, capacity, limit int64) origin.Stock {
	t.Helper()
	stock, err := l.PutEvent(t.Context(), origin.Event{
		ID: id, Name: "Event " + id, Capacity: capacity, Amount: 1200, Currency: "eur", MaxPerBuyer: limit,
	})
	if err != nil {
		t.Fatal(err)
	}
	return stock
}

// request asks for units; the hold lives an hour.
func request(id, event, buyer string, quantity int64) origin.HoldRequest {
	return origin.HoldRequest{ID: id, Event: event, Buyer: buyer, Quantity: quantity, TTL: time.Hour}
}

// hold makes one hold that must succeed.
func hold(t *testing.T, l strategy.Ledger, r origin.HoldRequest) origin.Hold {
	t.Helper()
	replies, err := l.HoldGroup(t.Context(), r.Event, []origin.HoldRequest{r})
	if err != nil || replies[0].Refusal != origin.NotRefused {
		t.Fatalf("hold %s: %+v, %v", r.ID, replies, err)
	}
	return replies[0].Hold
}

// pay starts a payment that must be allowed.
func pay(t *testing.T, l origin.Ledger, attempt string, h origin.Hold) origin.PaymentReply {
	t.Helper()
	reply, err := l.StartPayment(t.Context(), origin.PaymentStart{Attempt: attempt, Hold: h.ID, Buyer: h.Buyer, Method: "pm_card_visa"})
	if err != nil || reply.Refusal != origin.NotRefused {
		t.Fatalf("start payment %s: %+v, %v", attempt, reply, err)
	}
	return reply
}

// settle tells the gateway's word.
func settle(t *testing.T, l origin.Ledger, attempt string, state origin.AttemptState) origin.Settled {
	t.Helper()
	word := origin.Settlement{Attempt: attempt, State: state}
	if state == origin.AttemptPaid {
		word.Charge = "ch_" + attempt
	}
	settled, err := l.Settle(t.Context(), word)
	if err != nil {
		t.Fatal(err)
	}
	return settled
}

// wantStock checks the event's counters, and that the rows add up to them.
func wantStock(t *testing.T, l origin.Ledger, event string, held, sold int64) {
	t.Helper()
	audit, ok, err := l.Audit(t.Context(), event)
	if err != nil || !ok {
		t.Fatalf("audit: %v %v", ok, err)
	}
	if audit.Held != held || audit.Sold != sold {
		t.Errorf("held %d, sold %d, want %d and %d", audit.Held, audit.Sold, held, sold)
	}
	if audit.HeldRows != audit.Held || audit.SoldRows != audit.Sold {
		t.Errorf("the rows hold %d and sold %d, the counters say %d and %d", audit.HeldRows, audit.SoldRows, audit.Held, audit.Sold)
	}
}

// crowd runs n at once, from one starting signal, and reports their errors.
func crowd(t *testing.T, n int, run func(i int) error) {
	t.Helper()
	var wg sync.WaitGroup
	start, failed := make(chan struct{}), make(chan error, n)
	for i := range n {
		wg.Go(func() {
			<-start
			if err := run(i); err != nil {
				failed <- fmt.Errorf("%d: %w", i, err)
			}
		})
	}
	close(start)
	wg.Wait()
	close(failed)
	for err := range failed {
		t.Error(err)
	}
}

// overdue makes a hold one whose time has passed.
func overdue(t *testing.T, l LedgerStore, hold string) {
	t.Helper()
	if err := l.Exec(t.Context(), `update holds set expires_at = created_at where id = '`+hold+`'`); err != nil {
		t.Fatal(err)
	}
}

// lapse waits until the ledger's clock has passed a moment.
func lapse(t *testing.T, l LedgerStore, moment time.Time) {
	t.Helper()
	for {
		now, err := l.Clock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if now.After(moment) {
			return
		}
	}
}
