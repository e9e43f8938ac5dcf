package services

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// postgresSettings are those of every server; what the caller gives comes after them and wins.
var postgresSettings = []string{
	"listen_addresses=127.0.0.1",
	"unix_socket_directories=", // a socket's path has a short limit, a temporary folder's has none
	"max_connections=700",      // several packages' tests at once, or a bench with a connection for each buyer
	"shared_buffers=64MB",
	"timezone=UTC",
}

// PostgresServer is a Postgres of one's own. It flushes to disk like a real one unless it was told otherwise.
type PostgresServer struct {
	process *process
	port    int
	argv    []string
}

// StartPostgres creates a cluster in a temporary folder and starts a server on it, each setting in the form
// "name=value". It returns when the server answers; the context bounds the start only. An error says what to install
// where that is what is missing. The caller must call Close.
func StartPostgres(ctx context.Context, settings ...string) (*PostgresServer, error) {
	initdb, err := postgresBinary("initdb")
	if err != nil {
		return nil, err
	}
	postgres, err := postgresBinary("postgres")
	if err != nil {
		return nil, err
	}
	as, err := unprivileged()
	if err != nil {
		return nil, err
	}
	p, err := newProcess("postgres", as)
	if err != nil {
		return nil, err
	}
	s := &PostgresServer{process: p}
	data := filepath.Join(p.dir, "data")
	s.argv = []string{postgres, "-D", data}
	for _, setting := range append(postgresSettings[:len(postgresSettings):len(postgresSettings)], settings...) {
		s.argv = append(s.argv, "-c", setting)
	}
	err = p.run(ctx, initdb, "-D", data, "-U", "postgres", "-E", "UTF8", "--locale=C", "--auth=trust", "--no-sync",
		"--no-instructions")
	if err == nil {
		err = p.startOnFreePort(func(port int) error {
			s.port = port
			return s.start(ctx)
		})
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return s, nil
}

// URL is where the server listens, as its superuser, in its database postgres.
func (s *PostgresServer) URL() string {
	return fmt.Sprintf("postgres://postgres@%s/postgres?sslmode=disable", loopback(s.port))
}

// Kill ends the server as a crash does (SIGKILL). What it had committed is still there after Restart.
func (s *PostgresServer) Kill() error { return s.process.kill() }

// Freeze stops the server where it stands: connections stay open and get no answer until Thaw.
func (s *PostgresServer) Freeze() error { return s.process.freeze() }

// Thaw lets a frozen server go on.
func (s *PostgresServer) Thaw() error { return s.process.thaw() }

// Abort ends the server at once, without a checkpoint, as "pg_ctl stop -m immediate" does: its connections break, and the next
// start recovers what was committed from the log.
func (s *PostgresServer) Abort() error { return s.process.stop(syscall.SIGQUIT) }

// Stop shuts the server down in order, cutting its connections.
func (s *PostgresServer) Stop() error { return s.process.stop(syscall.SIGINT) }

// Restart starts the server on the same port and data, after stopping it if it still runs.
func (s *PostgresServer) Restart() error {
	if err := s.Stop(); err != nil {
		return err
	}
	return s.start(context.Background())
}

// Close ends the server and removes its data.
func (s *PostgresServer) Close() error { return s.process.close() }

func (s *PostgresServer) start(ctx context.Context) error {
	if err := s.process.start(append(s.argv, "-p", strconv.Itoa(s.port))...); err != nil {
		return err
	}
	return s.process.await(ctx, func(ctx context.Context) error {
		conn, err := pgx.Connect(ctx, s.URL())
		if err != nil {
			return err
		}
		return conn.Close(ctx)
	})
}
