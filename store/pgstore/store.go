package pgstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"foyer/origin"
)

// poolSize is the number of connections where the URL does not say pool_max_conns.
const poolSize = 16

// Limits of a session: a transaction that waits or idles longer than this is ended by the database, so that a process
// that froze holds no row for longer.
const (
	statementTimeout = 10 * time.Second
	lockTimeout      = 5 * time.Second
	idleTimeout      = 5 * time.Second
)

// Store is a ledger in PostgreSQL. It is safe for concurrent use.
type Store struct {
	pool   *pgxpool.Pool
	groups *pipelines // of groups of holds, by event
	choosy sync.Map   // events whose last group had a member that got no new hold, see HoldGroup
}

var _ origin.Ledger = (*Store)(nil)

// Open connects, brings the schema up to date and returns the ledger. The URL may carry search_path and pool_max_conns.
func Open(ctx context.Context, url string) (*Store, error) {
	if _, err := Migrate(ctx, url); err != nil {
		return nil, err
	}
	pool, err := connect(ctx, url)
	if err != nil {
		return nil, err
	}
	return &Store{pool: pool, groups: newPipelines(pool)}, nil
}

// Close ends all connections; it waits for those in use.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

// Ping implements [origin.Ledger].
func (s *Store) Ping(ctx context.Context) error {
	if err := s.pool.Ping(ctx); err != nil {
		return fmt.Errorf("ping the ledger: %w", err)
	}
	return nil
}

func connect(ctx context.Context, url string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("parse the ledger's url: %w", err)
	}
	if !strings.Contains(url, "pool_max_conns") {
		config.MaxConns = poolSize
	}
	for name, limit := range map[string]time.Duration{
		"statement_timeout":                   statementTimeout,
		"lock_timeout":                        lockTimeout,
		"idle_in_transaction_session_timeout": idleTimeout,
	} {
		if _, given := config.ConnConfig.RuntimeParams[name]; !given {
			config.ConnConfig.RuntimeParams[name] = fmt.Sprint(limit.Milliseconds())
		}
	}
	// A plan made when the sale began, with the tables empty, reads them whole, and is kept while they grow.
	config.ConnConfig.RuntimeParams["enable_seqscan"] = "off"
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the ledger: %w", err)
	}
	return pool, nil
}

// inTx runs work in one transaction. An error of work rolls it back.
func (s *Store) inTx(ctx context.Context, verb string, work func(tx pgx.Tx) error) error {
	return wrap(verb, pgx.BeginFunc(ctx, s.pool, work))
}

// wrap names what was being done, and marks what the database has rejected for its content.
func wrap(verb string, err error) error {
	if err == nil {
		return nil
	}
	if rejected(err) {
		return fmt.Errorf("%s: %w: %w", verb, origin.ErrRejected, err)
	}
	return fmt.Errorf("%s: %w", verb, err)
}

// rejected reports whether the database has rejected a statement for its content: integrity (23) or data (22).
func rejected(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && (strings.HasPrefix(answer.Code, "22") || strings.HasPrefix(answer.Code, "23"))
}

// found turns the absence of a row into a value.
func found(err error) (bool, error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}
