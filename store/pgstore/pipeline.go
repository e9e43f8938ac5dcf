package pgstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// pipelineDepth is how many statements are under way on a connection at most: the one that commits, and the next.
	pipelineDepth = 2
	// pipelineLasts is how long statements are sent on a connection until it goes back to the pool, where others wait for it. Nor
	// is one sent behind another whose answer is out for longer: the connection may be dead.
	pipelineLasts = 100 * time.Millisecond
	// pipelinePatience is how long a statement waits for the one before it to be answered.
	pipelinePatience = 2 * time.Second
)

var (
	errNoTurn = errors.New("the statement before it on the connection is not answered")
	errBroken = errors.New("it was given up after the statement before it")
)

// pipelines run statements that queue for the same row anyway, in the order in which they are sent. Two of one key at once share
// a connection: the second is sent without waiting for the answer to the first, so that the database begins it the moment that
// the first is committed, without the way to the client and back. Each is a transaction of its own, and one that fails leaves the
// other as it is. Only where the connection is lost, or the context of the first ends, it is lost for both.
//
// It is the pipelining of the extended query protocol, with a Sync after each statement, by which the connection itself ends
// each transaction: https://www.postgresql.org/docs/15/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
type pipelines struct {
	pool     *pgxpool.Pool
	prepares bool          // the connections keep prepared statements; else there is no pipelining
	lasts    time.Duration // is pipelineLasts, except in tests

	mu   sync.Mutex
	open map[string]*pipeline // those that were begun last
}

// pipeline is a connection of the pool for as long as statements are under way on it.
type pipeline struct {
	conn      *pgxpool.Conn
	statement *pgconn.StatementDescription
	fields    []pgconn.FieldDescription // of its answer

	// under the lock of pipelines
	underWay int
	began    time.Time // when the first one did

	// broken: nothing more is read, and the connection is closed at the end.
	broken atomic.Bool

	sending sync.Mutex
	builder pgx.ExtendedQueryBuilder
	out     []byte
	read    chan struct{} // of the last statement sent
}

// sent is a statement that was sent, or could not be.
type sent struct {
	err  error
	turn <-chan struct{} // closed when the answer before its own has been read
	read chan struct{}   // closed when its own has
}

// past is a deadline that ends what is under way.
var past = time.Unix(1, 0)

// decoders decode rows: a connection's own one may be encoding the next statement meanwhile.
var decoders = sync.Pool{New: func() any { return pgtype.NewMap() }}

func newPipelines(pool *pgxpool.Pool) *pipelines {
	mode := pool.Config().ConnConfig.DefaultQueryExecMode
	return &pipelines{pool: pool, prepares: mode == pgx.QueryExecModeCacheStatement, lasts: pipelineLasts, open: make(map[string]*pipeline)}
}

// row is a [pgx.Row] whose statement runs when it is scanned.
type row func(dest ...any) error

// Scan implements [pgx.Row].
func (r row) Scan(dest ...any) error { return r(dest...) }

// queryRow runs a statement that gives one row at most under a key, for which it is always the same statement.
func (p *pipelines) queryRow(ctx context.Context, key, sql string, args ...any) pgx.Row {
	if !p.prepares {
		return p.pool.QueryRow(ctx, sql, args...)
	}
	return row(func(dest ...any) error {
		line, err := p.enter(ctx, key, sql)
		if err != nil {
			return err
		}
		sent := line.send(ctx, args)
		broken, err := line.receive(ctx, sent, dest)
		p.leave(key, line, broken)
		close(sent.read)
		return err
	})
}

// enter joins the pipeline of a key, or begins one.
func (p *pipelines) enter(ctx context.Context, key, sql string) (*pipeline, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if line := p.join(key); line != nil {
		return line, nil
	}
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	statement, err := conn.Conn().Prepare(ctx, sql, sql) // once per connection
	if err != nil {
		conn.Release()
		return nil, err
	}
	return p.begin(key, conn, statement), nil
}

func (p *pipelines) join(key string) *pipeline {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := p.open[key]
	if line == nil || line.broken.Load() || line.underWay == pipelineDepth || time.Since(line.began) > p.lasts {
		return nil
	}
	line.underWay++
	return line
}

func (p *pipelines) begin(key string, conn *pgxpool.Conn, statement *pgconn.StatementDescription) *pipeline {
	line := &pipeline{
		conn: conn, statement: statement, fields: slices.Clone(statement.Fields),
		underWay: 1, began: time.Now(), read: make(chan struct{}),
	}
	close(line.read)
	for i, field := range line.fields {
		line.fields[i].Format = conn.Conn().TypeMap().FormatCodeForOID(field.DataTypeOID) // as the builder asks for it
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[key] = line
	return line
}

// leave ends a statement's part in a pipeline, and the pipeline with the last one's. A broken connection is closed.
func (p *pipelines) leave(key string, line *pipeline, broken bool) {
	p.mu.Lock()
	if broken {
		line.broken.Store(true)
	}
	line.underWay--
	last := line.underWay == 0
	if last && p.open[key] == line {
		delete(p.open, key)
	}
	p.mu.Unlock()
	if !last {
		return
	}
	if line.broken.Load() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = line.conn.Conn().PgConn().CancelRequest(ctx) // a statement that waits for a lock does not notice the end of its connection
		_ = line.conn.Conn().Close(ctx)
	}
	line.conn.Release()
}

// send sends the statement behind those under way.
func (l *pipeline) send(ctx context.Context, args []any) sent {
	l.sending.Lock()
	defer l.sending.Unlock()
	s := sent{turn: l.read, read: make(chan struct{})}
	l.read = s.read
	conn := l.conn.Conn().PgConn().Conn()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetWriteDeadline(past) })
	if s.err = l.write(args); !stop() && s.err == nil {
		s.err = context.Cause(ctx)
	}
	return s
}

func (l *pipeline) write(args []any) (err error) {
	conn := l.conn.Conn()
	if err := l.builder.Build(conn.TypeMap(), l.statement, args); err != nil {
		return err
	}
	bind := pgproto3.Bind{
		PreparedStatement:    l.statement.Name,
		ParameterFormatCodes: l.builder.ParamFormats,
		Parameters:           l.builder.ParamValues,
		ResultFormatCodes:    l.builder.ResultFormats,
	}
	out := l.out[:0]
	for _, message := range []pgproto3.FrontendMessage{&bind, &pgproto3.Execute{}, &pgproto3.Sync{}} {
		if out, err = message.Encode(out); err != nil {
			return err
		}
	}
	l.out = out
	_, err = conn.PgConn().Conn().Write(out)
	return err
}

// receive reads the answer to a statement in its turn. Whoever leaves without it has broken the connection: the next one must not
// take what comes for its own.
func (l *pipeline) receive(ctx context.Context, s sent, dest []any) (broken bool, err error) {
	if err := l.await(ctx, s); err != nil {
		return true, fmt.Errorf("the connection was given up: %w", err)
	}
	conn := l.conn.Conn().PgConn().Conn()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(past) })
	lost, err := l.answer(dest)
	if !stop() && err != nil && ctx.Err() != nil {
		err = errors.Join(err, context.Cause(ctx))
	}
	return lost || ctx.Err() != nil || stale(err), err
}

// await waits for a statement's turn.
func (l *pipeline) await(ctx context.Context, s sent) error {
	if s.err != nil {
		return s.err
	}
	patience := time.NewTimer(pipelinePatience)
	defer patience.Stop()
	select {
	case <-s.turn:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-patience.C:
		return errNoTurn
	}
	if l.broken.Load() {
		return errBroken
	}
	return nil
}

// answer reads one answer from the connection, unless that is lost.
func (l *pipeline) answer(dest []any) (lost bool, err error) {
	err = pgx.ErrNoRows
	for {
		message, broken := l.conn.Conn().PgConn().Frontend().Receive()
		if broken != nil {
			if errors.Is(err, pgx.ErrNoRows) {
				err = nil // there is no answer
			}
			return true, fmt.Errorf("the connection was lost: %w", errors.Join(err, broken))
		}
		switch message := message.(type) {
		case *pgproto3.DataRow:
			err = l.scan(message.Values, dest)
		case *pgproto3.ErrorResponse:
			err = pgconn.ErrorResponseToPgError(message)
		case *pgproto3.ReadyForQuery:
			return false, err
		}
	}
}

// stale reports whether the database has refused a prepared statement: its tables have changed (0A), or a pooler between has
// forgotten it (26).
func stale(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && (strings.HasPrefix(answer.Code, "0A") || strings.HasPrefix(answer.Code, "26"))
}

func (l *pipeline) scan(values [][]byte, dest []any) error {
	decoder := decoders.Get().(*pgtype.Map)
	defer decoders.Put(decoder)
	return pgx.ScanRow(decoder, l.fields, values, dest...)
}
