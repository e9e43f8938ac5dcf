package pgstore

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"foyer/origin"
)

// Control is what the naive strategy writes to: two tables of its own beside the ledger's, with none of the constraints
// that would stop it. It exists so that the bench and the tests can show what the constraints and locks of the ledger are
// worth; nothing else may open it.
type Control struct {
	pool *pgxpool.Pool
}

// OpenControl makes the control's tables in the first schema of the URL's search_path.
func OpenControl(ctx context.Context, url string) (*Control, error) {
	const tables = `
		create table if not exists control_events (
			id text primary key, capacity bigint not null, held bigint not null default 0, amount bigint not null, currency text not null);
		create table if not exists control_holds (
			id text primary key, event text not null, buyer text not null, quantity bigint not null, expires_at timestamptz not null)`
	pool, err := connect(ctx, url)
	if err != nil {
		return nil, err
	}
	if _, err := pool.Exec(ctx, tables); err != nil {
		pool.Close()
		return nil, fmt.Errorf("make the control's tables: %w", err)
	}
	return &Control{pool: pool}, nil
}

// Close ends all connections.
func (c *Control) Close() error {
	c.pool.Close()
	return nil
}

// Put puts an event on sale, with nothing sold of it.
func (c *Control) Put(ctx context.Context, event origin.Event) error {
	const put = `insert into control_events (id, capacity, amount, currency) values ($1, $2, $3, $4)
		on conflict (id) do update set capacity = excluded.capacity, held = 0`
	if _, err := c.pool.Exec(ctx, `delete from control_holds where event = $1`, event.ID); err != nil {
		return wrap("put a control event", err)
	}
	_, err := c.pool.Exec(ctx, put, event.ID, event.Capacity, event.Amount, event.Currency)
	return wrap("put a control event", err)
}

// HoldUnguarded reads what remains, checks it, and writes, in statements of their own.
func (c *Control) HoldUnguarded(ctx context.Context, request origin.HoldRequest) (origin.HoldReply, error) {
	var (
		stock origin.Stock
		hold  = origin.Hold{ID: request.ID, Event: request.Event, Buyer: request.Buyer, Quantity: request.Quantity, State: origin.HoldActive}
	)
	read := c.pool.QueryRow(ctx, `select capacity, held, amount, currency, clock_timestamp() from control_events where id = $1`, request.Event)
	ok, err := found(read.Scan(&stock.Capacity, &stock.Held, &stock.Amount, &hold.Currency, &hold.CreatedAt))
	if err != nil || !ok {
		return origin.HoldReply{Refusal: origin.NoSuchEvent}, wrap("make hold", err)
	}
	if request.Quantity > stock.Remaining() {
		return origin.HoldReply{Refusal: origin.SoldOut}, nil
	}
	if _, err := c.pool.Exec(ctx, `update control_events set held = $2 where id = $1`, request.Event, stock.Held+request.Quantity); err != nil {
		return origin.HoldReply{}, wrap("make hold", err)
	}
	hold.Amount, hold.ExpiresAt = request.Quantity*stock.Amount, hold.CreatedAt.Add(request.TTL)
	const write = `insert into control_holds (id, event, buyer, quantity, expires_at) values ($1, $2, $3, $4, $5)`
	if _, err := c.pool.Exec(ctx, write, hold.ID, hold.Event, hold.Buyer, hold.Quantity, hold.ExpiresAt); err != nil {
		return origin.HoldReply{}, wrap("make hold", err)
	}
	return origin.HoldReply{Hold: hold}, nil
}

// Taken counts an event's units by the rows of its holds, and by the counter beside them, which may look healthy.
func (c *Control) Taken(ctx context.Context, event string) (rows, counter int64, err error) {
	const count = `select coalesce((select sum(quantity) from control_holds where event = e.id), 0)::bigint, held
		from control_events e where id = $1`
	err = c.pool.QueryRow(ctx, count, event).Scan(&rows, &counter)
	return rows, counter, wrap("count a control event", err)
}
