package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"foyer/internal/services"
	"foyer/store"
	"foyer/store/pgstore"
	"foyer/store/redisstore"
	"foyer/store/strategy"
)

// benchPool is the number of connections to Postgres.
const benchPool = 32

// benchRun is a place to measure in: a schema and a key prefix of its own.
type benchRun struct {
	settings benchSettings
	postgres string // URL with the schema in its search_path
	redis    string
	prefix   string
	undo     []func() error // last first
	servers  string         // for the report

	ledger *pgstore.Store
	client redis.UniversalClient
}

// newBenchRun starts the servers that were not given, and makes the schema.
func newBenchRun(ctx context.Context, settings benchSettings) (*benchRun, error) {
	name := "foyer_bench_" + strings.ToLower(rand.Text()[:10])
	b := &benchRun{settings: settings, postgres: settings.postgres, redis: settings.redis, prefix: name + ":", servers: "given servers"}
	if err := b.open(ctx, name); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *benchRun) open(ctx context.Context, schema string) error {
	if b.postgres == "" {
		server, err := services.StartPostgres(ctx)
		if err != nil {
			return fmt.Errorf("%w; or name one with --postgres", err)
		}
		b.undo, b.postgres, b.servers = append(b.undo, server.Close), server.URL(), "private servers on loopback, default durability"
	}
	if b.redis == "" {
		server, err := services.StartRedis(ctx)
		if err != nil {
			return fmt.Errorf("%w; or name one with --redis", err)
		}
		b.undo, b.redis = append(b.undo, server.Close), server.URL()
	}
	if err := b.dialRedis(ctx); err != nil {
		return err
	}
	if err := b.makeSchema(ctx, schema); err != nil {
		return err
	}
	b.undo = append(b.undo, b.removeKeys)
	return b.openLedger(ctx)
}

// openLedger opens the ledger in the schema.
func (b *benchRun) openLedger(ctx context.Context) (err error) {
	if b.ledger, err = pgstore.Open(ctx, b.postgres); err != nil {
		return err
	}
	b.undo = append(b.undo, b.ledger.Close)
	return nil
}

// dialRedis makes the client, and sees that there is a Redis.
func (b *benchRun) dialRedis(ctx context.Context) (err error) {
	if b.client, err = redisstore.Dial(b.redis); err != nil {
		return fmt.Errorf("read --redis: %w", err)
	}
	b.undo = append(b.undo, b.client.Close)
	err = b.client.Ping(ctx).Err()
	return store.Advise("--redis", redisstore.Mend(err), err)
}

// makeSchema makes a schema of the bench's own and has the URL lead there.
func (b *benchRun) makeSchema(ctx context.Context, schema string) error {
	plain := b.postgres
	if err := execute(ctx, plain, "create schema "+schema); err != nil {
		return store.Advise("--postgres", pgstore.Mend(err), fmt.Errorf("make schema %s: %w", schema, err))
	}
	b.undo = append(b.undo, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // also after an interrupt
		defer cancel()
		return execute(ctx, plain, "drop schema "+schema+" cascade")
	})
	address, err := url.Parse(plain)
	if err != nil {
		return fmt.Errorf("read --postgres: %w", err)
	}
	query := address.Query()
	query.Set("search_path", schema)
	query.Set("pool_max_conns", fmt.Sprint(benchPool))
	address.RawQuery = query.Encode()
	b.postgres = address.String()
	return nil
}

// execute runs one statement on a connection of its own.
func execute(ctx context.Context, address, statement string) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, statement)
	return err
}

// removeKeys removes what the bench has left in Redis.
func (b *benchRun) removeKeys() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // also after an interrupt
	defer cancel()
	options, err := redis.ParseURL(b.redis)
	if err != nil {
		return fmt.Errorf("read --redis: %w", err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	keys := client.Scan(ctx, 0, b.prefix+"*", 1000).Iterator()
	for keys.Next(ctx) {
		if err := client.Unlink(ctx, keys.Val()).Err(); err != nil {
			return fmt.Errorf("remove key %s: %w", keys.Val(), err)
		}
	}
	return keys.Err()
}

// close removes all that the bench has made, and ends the servers it has started.
func (b *benchRun) close() (err error) {
	for len(b.undo) > 0 {
		last := len(b.undo) - 1
		err = errors.Join(err, b.undo[last]())
		b.undo = b.undo[:last]
	}
	return err
}

// run measures everything, one after the other, so that nothing disturbs anything.
func (b *benchRun) run(ctx context.Context, tell func(what string)) (result benchResult, err error) {
	for _, name := range strategy.Names() {
		tell("strategy " + name)
		measured, err := b.strategy(ctx, name)
		if err != nil {
			return result, fmt.Errorf("measure strategy %s: %w", name, err)
		}
		result.Strategies = append(result.Strategies, measured)
	}
	for _, gate := range []int{0, benchGate} {
		tell(fmt.Sprintf("%d arrivals, gate %d", benchArrivals, gate))
		measured, err := b.admission(ctx, gate)
		if err != nil {
			return result, fmt.Errorf("measure gate %d: %w", gate, err)
		}
		result.Admission = append(result.Admission, measured)
	}
	tell("one payment, delivered several times")
	if result.Idempotency, err = b.idempotency(ctx); err != nil {
		return result, fmt.Errorf("deliver a payment several times: %w", err)
	}
	tell("crashes between counter and ledger")
	if result.Reconcile, err = b.reconcile(ctx); err != nil {
		return result, fmt.Errorf("crash and reconcile: %w", err)
	}
	return result, nil
}

// about says where and with what was measured.
func (b *benchRun) about(took time.Duration) []string {
	return []string{
		fmt.Sprintf("%s, %d CPUs%s", runtime.GOOS+"/"+runtime.GOARCH, runtime.NumCPU(), cpuModel()),
		buildName(),
		fmt.Sprintf("%s; pool of %d; all in %.1f s, at %s", b.servers, benchPool, took.Seconds(), time.Now().UTC().Format(time.DateTime)),
	}
}

// cpuModel is ", " and the name of the processor, where Linux tells it.
func cpuModel() string {
	text, _ := os.ReadFile("/proc/cpuinfo") // elsewhere there is none
	for line := range strings.Lines(string(text)) {
		if name, model, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == "model name" {
			return ", " + strings.TrimSpace(model)
		}
	}
	return ""
}
