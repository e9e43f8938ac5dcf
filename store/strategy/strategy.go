package strategy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/zap"

	"foyer/origin"
)

// The names of the strategies, as in the configuration and the tables of the bench.
const (
	Naive       = "naive"
	Pessimistic = "pessimistic"
	AtomicDB    = "atomic_db"
	GroupCommit = "group_commit"
	AtomicRedis = "atomic_redis"
)

// defaultGroup is the most members of a group.
const defaultGroup = 2000

// Names lists the strategies in the order of the tables.
func Names() []string { return []string{Naive, Pessimistic, AtomicDB, AtomicRedis, GroupCommit} }

// Settings of a strategy. Ledger is needed by all but Naive.
type Settings struct {
	Ledger Ledger
	Logger *zap.Logger // nil: none

	// Group is the most members of a group, 0: 2000, which is also the most that take.lua can take for.
	Group int

	// Redis and Prefix are where AtomicRedis keeps its counters. The client must not repeat scripts by itself
	// (MaxRetries: -1).
	Redis  redis.UniversalClient
	Prefix string
	// Grace is how long a take may be without its ledger row before Reconcile voids it, 0: 10 s.
	Grace time.Duration
	// Patience is how long a hold of AtomicRedis waits for the ledger before it is answered as pending, 0: 2 s.
	Patience time.Duration
	// AfterTake is called between a take and its ledger row; an error stands for a process that died there. For tests and
	// the bench.
	AfterTake func(hold string) error

	// Control is what Naive writes to. Only the bench and the tests have one.
	Control Control
}

// New makes a strategy by its name.
func New(name string, settings Settings) (origin.Strategy, error) {
	if settings.Logger == nil {
		settings.Logger = zap.NewNop()
	}
	if settings.Group == 0 {
		settings.Group = defaultGroup
	}
	if settings.Grace == 0 {
		settings.Grace = 10 * time.Second
	}
	if settings.Patience == 0 {
		settings.Patience = 2 * time.Second
	}
	switch {
	case name == Naive && settings.Control == nil:
		return nil, errors.New("strategy naive oversells: it is for the bench and the tests alone")
	case name != Naive && settings.Ledger == nil:
		return nil, fmt.Errorf("strategy %s needs a ledger", name)
	case name == AtomicRedis && settings.Redis == nil:
		return nil, errors.New("strategy atomic_redis needs Redis")
	}
	switch name {
	case Naive:
		return newNaive(settings), nil
	case Pessimistic:
		return newPessimistic(settings), nil
	case AtomicDB:
		return newAtomicDB(settings), nil
	case GroupCommit:
		return newGroupCommit(settings), nil
	case AtomicRedis:
		return newAtomicRedis(settings), nil
	default:
		return nil, fmt.Errorf("no strategy is called %q", name)
	}
}

// ledgerOnly is the part of a strategy that keeps nothing beside the ledger: there is nothing to tell it, to compare or to
// mend.
type ledgerOnly struct{}

// Pending implements [origin.Strategy].
func (ledgerOnly) Pending(context.Context, string) (origin.Hold, bool, error) {
	return origin.Hold{}, false, nil
}

// GaveBack implements [origin.Strategy].
func (ledgerOnly) GaveBack(context.Context, origin.Ended) error { return nil }

// Reconcile implements [origin.Strategy].
func (ledgerOnly) Reconcile(_ context.Context, event string) (origin.Reconciliation, error) {
	return origin.Reconciliation{Event: event}, nil
}

// Compare implements [origin.Strategy].
func (ledgerOnly) Compare(_ context.Context, event string) (origin.Reconciliation, error) {
	return origin.Reconciliation{Event: event}, nil
}

// Run implements [origin.Strategy].
func (ledgerOnly) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}
