package pgstore

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// errNoSchema is the error of a search_path in which there is no schema to make tables in.
var errNoSchema = errors.New("no schema of its search_path is there")

// Migrate brings the schema up to date and returns the number of migrations that were missing. Several at once wait for
// each other on an advisory lock of the schema.
func Migrate(ctx context.Context, url string) (int, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return 0, fmt.Errorf("parse the ledger's url: %w", err)
	}
	db := stdlib.OpenDB(*config.ConnConfig)
	defer db.Close()
	applied, err := migrateLocked(ctx, db)
	if err != nil {
		return 0, fmt.Errorf("migrate the ledger: %w", err)
	}
	return applied, nil
}

func migrateLocked(ctx context.Context, db *sql.DB) (int, error) {
	lock, err := db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer lock.Close()
	var there bool
	if err := lock.QueryRowContext(ctx, `select current_schema() is not null`).Scan(&there); err != nil {
		return 0, err
	}
	if !there {
		return 0, errNoSchema
	}
	const key = `hashtextextended('foyer ledger in ' || current_schema(), 0)`
	if _, err := lock.ExecContext(ctx, `select pg_advisory_lock(`+key+`)`); err != nil {
		return 0, err
	}
	defer lock.ExecContext(context.WithoutCancel(ctx), `select pg_advisory_unlock(`+key+`)`)

	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return 0, err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files)
	if err != nil {
		return 0, err
	}
	applied, err := provider.Up(ctx)
	return len(applied), err
}
