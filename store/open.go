package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
	"go.uber.org/zap"

	"foyer/admission"
	"foyer/origin"
	"foyer/store/memstore"
	"foyer/store/pgstore"
	"foyer/store/redisstore"
	"foyer/store/sqlitestore"
	"foyer/store/statefile"
	"foyer/store/strategy"
)

// DefaultPrefix begins every key in Redis.
const DefaultPrefix = "foyer:"

// Settings say where the stores are.
type Settings struct {
	Redis     string // URL; empty: the line is in this process
	Prefix    string // of every key in Redis; empty: DefaultPrefix
	Ledger    bool   // whether there is an embedded shop, and so a ledger
	Postgres  string // URL; empty: SQLite
	SQLite    string // a file, or ":memory:"
	StateFile string // the last snapshot of the line; empty: none is kept
	Logger    *zap.Logger

	StateSaved func(error) // is told what came of each save of the state file; nil: nobody is
}

// ledger is a database that can be the shop's ledger and do every strategy's work.
type ledger interface {
	origin.Ledger
	strategy.Ledger
	Close() error
}

// Stores are the stores of a process.
type Stores struct {
	settings Settings
	redis    redis.UniversalClient // nil: the line is in this process
	ledger   ledger                // nil without a shop
	state    *state                // nil where none is kept
}

// Open opens the state file and the ledger, if there are to be any, and brings the ledger's schema up to date. Redis is
// not reached for yet: a waiting room starts without it, and says so.
func Open(ctx context.Context, settings Settings) (*Stores, error) {
	if settings.Prefix == "" {
		settings.Prefix = DefaultPrefix
	}
	if settings.Logger == nil {
		settings.Logger = zap.NewNop()
	}
	if settings.StateSaved == nil {
		settings.StateSaved = func(error) {}
	}
	s := &Stores{settings: settings}
	if settings.Redis != "" {
		client, err := redisstore.Dial(settings.Redis)
		if err != nil {
			return nil, Advise("store.redis", "write it as redis://user:password@host:port/0", err)
		}
		s.redis = client
	}
	if err := errors.Join(s.openState(), s.openLedger(ctx)); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Migrate brings the ledger's schema up to date and answers how many migrations were missing.
func Migrate(ctx context.Context, settings Settings) (applied int, err error) {
	if settings.Postgres != "" {
		applied, err = pgstore.Migrate(ctx, settings.Postgres)
		return applied, Advise("store.postgres", pgstore.Mend(err), err)
	}
	applied, err = sqlitestore.Migrate(ctx, settings.SQLite)
	return applied, Advise("store.sqlite "+settings.SQLite, sqlitestore.Mend(err), err)
}

// Advise names the key of the configuration, or the flag, that leads to a store which failed, and what helps if that is
// known, before what its driver says. Nil stays nil.
func Advise(key, mend string, err error) error {
	switch {
	case err == nil:
		return nil
	case mend == "":
		return fmt.Errorf("%s: %w", key, err)
	}
	return fmt.Errorf("%s: %s: %w", key, mend, err)
}

func (s *Stores) openState() error {
	if s.settings.StateFile == "" {
		return nil
	}
	file, err := statefile.Open(s.settings.StateFile)
	if err != nil {
		return fmt.Errorf("store.state_file: %w; %s", err, s.stateMend(err))
	}
	s.state = newState(file)
	return nil
}

// stateMend is what helps where the state file cannot be opened.
func (s *Stores) stateMend(err error) string {
	switch {
	case errors.Is(err, statefile.ErrInUse):
		return "each process needs a file of its own, or none"
	case errors.Is(err, statefile.ErrBroken) && s.redis != nil:
		return "move it away and start again: the line is in Redis, and the file is of use only where Redis loses it"
	case errors.Is(err, statefile.ErrBroken):
		return "move it away and start again; without it those in line begin anew"
	}
	return "name a file in a folder that is there and that this process may write to, or none"
}

func (s *Stores) openLedger(ctx context.Context) error {
	if !s.settings.Ledger {
		return nil
	}
	if s.settings.Postgres != "" {
		opened, err := pgstore.Open(ctx, s.settings.Postgres)
		if err != nil {
			return Advise("store.postgres", pgstore.Mend(err), err)
		}
		s.ledger = strategy.Grouped(opened)
		return nil
	}
	opened, err := sqlitestore.Open(ctx, s.settings.SQLite)
	if err != nil {
		return Advise("store.sqlite "+s.settings.SQLite, sqlitestore.Mend(err), err)
	}
	s.ledger = strategy.Grouped(opened)
	return nil
}

// Line is the store of one gate's line, and what keeps a replica's view of it beyond the life of the process: nil where
// nothing does, or where the store does so itself. Each gate asks for it once, before Run.
func (s *Stores) Line(gate string) (admission.Store, admission.Keeper) {
	if s.redis != nil {
		line := redisstore.New(redisstore.Settings{Client: s.redis, Prefix: s.settings.Prefix, Gate: gate})
		if s.state == nil {
			return line, nil
		}
		return line, s.state.keeper(gate)
	}
	settings := memstore.Settings{Gate: gate}
	if s.state == nil {
		return memstore.New(settings), nil
	}
	settings.Saved, settings.Clean = s.state.file.Image(gate), s.state.file.Clean()
	line := memstore.New(settings)
	s.state.add(gate, line.Image)
	return line, nil
}

// Run keeps the state file until ctx ends, and then saves it for the last time. Nothing may happen to the lines after
// that.
func (s *Stores) Run(ctx context.Context) error {
	if s.state == nil {
		<-ctx.Done()
		return nil
	}
	return s.state.run(ctx, s.settings.Logger, s.settings.StateSaved)
}

// Ledger is the shop's database; nil without a shop.
func (s *Stores) Ledger() origin.Ledger {
	if s.ledger == nil {
		return nil
	}
	return s.ledger
}

// Strategy makes holds in the ledger in the way that is named.
func (s *Stores) Strategy(name string) (origin.Strategy, error) {
	return strategy.New(name, strategy.Settings{Ledger: s.ledger, Redis: s.redis, Prefix: s.settings.Prefix, Logger: s.settings.Logger})
}

// Ping asks each store whether it answers, by name. An error says what helps.
func (s *Stores) Ping(ctx context.Context) map[string]error {
	answers := map[string]error{}
	if s.redis != nil {
		err := s.redis.Ping(ctx).Err()
		answers["redis"] = Advise("store.redis", redisstore.Mend(err), err)
	}
	if s.ledger != nil {
		answers["ledger"] = s.ledger.Ping(ctx)
	}
	return answers
}

// Close ends all connections.
func (s *Stores) Close() (err error) {
	if s.ledger != nil {
		err = s.ledger.Close()
	}
	if s.redis != nil {
		err = errors.Join(err, s.redis.Close())
	}
	if s.state != nil {
		err = errors.Join(err, s.state.file.Close())
	}
	return err
}
