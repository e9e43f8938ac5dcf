package sqlitestore

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"

	"foyer/origin"
)

// readers is the number of connections that read.
const readers = 4

//go:embed migrations/*.sql
var migrations embed.FS

// Store is a ledger in SQLite. It is safe for concurrent use in one process.
type Store struct {
	writer *sql.DB // one connection
	reader *sql.DB // the same one where the database is in memory
	clock  func() time.Time
}

var _ origin.Ledger = (*Store)(nil)

// Open opens a file, or ":memory:", and brings its schema up to date.
func Open(ctx context.Context, path string) (*Store, error) {
	s, err := open(path)
	if err != nil {
		return nil, err
	}
	if _, err := s.migrate(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Migrate brings the schema of a file up to date and returns the number of migrations that were missing.
func Migrate(ctx context.Context, path string) (int, error) {
	s, err := open(path)
	if err != nil {
		return 0, err
	}
	applied, err := s.migrate(ctx)
	return applied, errors.Join(err, s.Close())
}

// Close ends all connections.
func (s *Store) Close() error {
	err := s.reader.Close()
	if s.writer != s.reader {
		err = errors.Join(err, s.writer.Close())
	}
	return wrap("close the ledger", err)
}

// Ping implements [origin.Ledger].
func (s *Store) Ping(ctx context.Context) error {
	var one int
	return wrap("ping the ledger", s.reader.QueryRowContext(ctx, `select 1`).Scan(&one))
}

func open(path string) (*Store, error) {
	writer, err := sql.Open(driver, source(path, false))
	if err != nil {
		return nil, fmt.Errorf("open the ledger: %w", err)
	}
	writer.SetMaxOpenConns(1)
	writer.SetConnMaxLifetime(0)
	writer.SetConnMaxIdleTime(0)
	s := &Store{writer: writer, reader: writer, clock: time.Now}
	if path == memory {
		return s, nil
	}
	if s.reader, err = sql.Open(driver, source(path, true)); err != nil {
		return nil, errors.Join(fmt.Errorf("open the ledger: %w", err), writer.Close())
	}
	s.reader.SetMaxOpenConns(readers)
	s.reader.SetMaxIdleConns(readers)
	return s, nil
}

func (s *Store) migrate(ctx context.Context) (int, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return 0, err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, s.writer, files)
	if err != nil {
		return 0, fmt.Errorf("migrate the ledger: %w", err)
	}
	applied, err := provider.Up(ctx)
	return len(applied), wrap("migrate the ledger", err)
}

// now is the ledger's clock, the only place that reads one.
func (s *Store) now() time.Time { return s.clock().UTC().Truncate(time.Microsecond) }

// write runs work in one writing transaction, with the clock as it is once the lock was taken. An error of work rolls it
// back.
func (s *Store) write(ctx context.Context, verb string, work func(tx *sql.Tx, now time.Time) error) error {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return wrap(verb, err)
	}
	defer tx.Rollback()
	if err := work(tx, s.now()); err != nil {
		return wrap(verb, err)
	}
	return wrap(verb, tx.Commit())
}

// read runs work in one snapshot.
func (s *Store) read(ctx context.Context, verb string, work func(tx *sql.Tx) error) error {
	tx, err := s.reader.BeginTx(ctx, nil)
	if err != nil {
		return wrap(verb, err)
	}
	defer tx.Rollback()
	return wrap(verb, work(tx))
}

// wrap names what was being done, and marks what the database has rejected for its content.
func wrap(verb string, err error) error {
	switch {
	case err == nil:
		return nil
	case isRejected(err):
		return fmt.Errorf("%s: %w: %w", verb, origin.ErrRejected, err)
	default:
		return fmt.Errorf("%s: %w", verb, err)
	}
}

// found turns the absence of a row into a value.
func found(err error) (bool, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

func fromMicros(us int64) time.Time { return time.UnixMicro(us).UTC() }
