package origin_test

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"foyer/origin"
	"foyer/store/strategy"
)

// errStruck is what a call ends with whose process is dead, or whose connection was cut at a crash point.
var errStruck = errors.New("struck at a crash point")

// blow is what happens to a process at a crash point.
type blow string

const (
	kill  blow = "kill"  // nothing of the process comes out any more
	cut   blow = "error" // the call fails, or its answer is lost; the process lives
	delay blow = "delay" // the process is frozen until others have gone on without it
)

var blows = []blow{kill, cut, delay}

// process is one process of the shop, of which everything that goes out to another system passes a crash point before and
// after: "before ledger.Settle", "after gateway.confirm", "after counter.take". It is struck once, at the point named.
type process struct {
	point string
	blow  blow
	thaw  chan struct{} // ends a delay
	// frozen is closed when a delay has begun.
	frozen chan struct{}

	mu     sync.Mutex
	struck bool
	dead   bool
	passed []string // the points, in the order of their first passing
}

func newProcess(point string, b blow) *process {
	return &process{point: point, blow: b, thaw: make(chan struct{}), frozen: make(chan struct{})}
}

// at is a crash point.
func (p *process) at(point string) error {
	p.mu.Lock()
	if p.dead {
		p.mu.Unlock()
		return errStruck
	}
	p.passed = append(p.passed, point)
	if p.struck || point != p.point {
		p.mu.Unlock()
		return nil
	}
	p.struck, p.dead = true, p.blow == kill
	p.mu.Unlock()
	if p.blow == delay {
		close(p.frozen)
		<-p.thaw
		return nil
	}
	return errStruck
}

// endUnlessStruck ends a process that has not come to its point: nothing that it left behind may come to it later. It tells
// whether the process was struck.
func (p *process) endUnlessStruck() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = p.dead || !p.struck
	return p.struck
}

// points are the points that it has passed until now, in their order.
func (p *process) points() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.passed)
}

// crossing makes a call to another system between its two crash points.
func crossing[A any](p *process, name string, call func() (A, error)) (A, error) {
	var none A
	if err := p.at("before " + name); err != nil {
		return none, err
	}
	answer, err := call()
	if err != nil {
		return answer, err
	}
	if err := p.at("after " + name); err != nil {
		return none, err
	}
	return answer, nil
}

func crossed(p *process, name string, call func() error) error {
	_, err := crossing(p, name, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

// crossedLedger is the ledger beyond the crash points of a process. Reading changes nothing, so it has none.
type crossedLedger struct {
	strategy.WholeLedger
	p      *process
	settle func(ctx context.Context, settle origin.Settlement) // comes just before a payment is settled; nil: nothing
}

func (l *crossedLedger) HoldGroup(ctx context.Context, event string, requests []origin.HoldRequest) ([]origin.HoldReply, error) {
	return crossing(l.p, "ledger.HoldGroup", func() ([]origin.HoldReply, error) { return l.WholeLedger.HoldGroup(ctx, event, requests) })
}

func (l *crossedLedger) Void(ctx context.Context, event string, requests []origin.HoldRequest, why origin.Refusal) (map[string]origin.Hold, error) {
	return crossing(l.p, "ledger.Void", func() (map[string]origin.Hold, error) { return l.WholeLedger.Void(ctx, event, requests, why) })
}

func (l *crossedLedger) RaiseEpoch(ctx context.Context, event string, seen int64) (stock origin.Stock, raised bool, err error) {
	err = crossed(l.p, "ledger.RaiseEpoch", func() error {
		stock, raised, err = l.WholeLedger.RaiseEpoch(ctx, event, seen)
		return err
	})
	return stock, raised, err
}

// MoveGroup goes by the name of what it does: a process has one payment or one release at a time here.
func (l *crossedLedger) MoveGroup(ctx context.Context, event string, wishes []origin.Wish) ([]origin.Granted, error) {
	name, word := "ledger.Release", wishes[0].Settle
	if word.Attempt != "" {
		name = "ledger.Settle"
	}
	return crossing(l.p, name, func() ([]origin.Granted, error) {
		if l.settle != nil && word.Attempt != "" {
			l.settle(ctx, word)
		}
		return l.WholeLedger.MoveGroup(ctx, event, wishes)
	})
}

func (l *crossedLedger) Expire(ctx context.Context, limit int) ([]origin.Ended, error) {
	return crossing(l.p, "ledger.Expire", func() ([]origin.Ended, error) { return l.WholeLedger.Expire(ctx, limit) })
}

func (l *crossedLedger) StartPayment(ctx context.Context, start origin.PaymentStart) (origin.PaymentReply, error) {
	return crossing(l.p, "ledger.StartPayment", func() (origin.PaymentReply, error) { return l.WholeLedger.StartPayment(ctx, start) })
}

func (l *crossedLedger) KeepIntent(ctx context.Context, attempt, intent string) error {
	return crossed(l.p, "ledger.KeepIntent", func() error { return l.WholeLedger.KeepIntent(ctx, attempt, intent) })
}

func (l *crossedLedger) RefundDue(ctx context.Context, attempt string) error {
	return crossed(l.p, "ledger.RefundDue", func() error { return l.WholeLedger.RefundDue(ctx, attempt) })
}

func (l *crossedLedger) Refunded(ctx context.Context, attempt string, amount int64) error {
	return crossed(l.p, "ledger.Refunded", func() error { return l.WholeLedger.Refunded(ctx, attempt, amount) })
}

func (l *crossedLedger) ClaimKey(ctx context.Context, key origin.Key, print string, lasts time.Duration) (origin.KeyState, error) {
	return crossing(l.p, "ledger.ClaimKey "+key.Route, func() (origin.KeyState, error) { return l.WholeLedger.ClaimKey(ctx, key, print, lasts) })
}

func (l *crossedLedger) KeepAnswer(ctx context.Context, key origin.Key, fence int64, answer origin.Answer) error {
	return crossed(l.p, "ledger.KeepAnswer "+key.Route, func() error { return l.WholeLedger.KeepAnswer(ctx, key, fence, answer) })
}

func (l *crossedLedger) DropKey(ctx context.Context, key origin.Key, fence int64) error {
	return crossed(l.p, "ledger.DropKey "+key.Route, func() error { return l.WholeLedger.DropKey(ctx, key, fence) })
}

func (l *crossedLedger) KeepWebhook(ctx context.Context, hook origin.Webhook, settle *origin.Settlement) (fresh bool, settled origin.Settled, err error) {
	err = crossed(l.p, "ledger.KeepWebhook", func() error {
		fresh, settled, err = l.WholeLedger.KeepWebhook(ctx, hook, settle)
		return err
	})
	return fresh, settled, err
}

// crossedGateway is the gateway beyond the crash points of a process.
func crossedGateway(p *process, gateway origin.Gateway) origin.Gateway {
	return &faulty{
		Gateway: gateway,
		before:  func(_ context.Context, call string) error { return p.at("before gateway." + call) },
		after:   func(_ context.Context, call string) error { return p.at("after gateway." + call) },
	}
}

// crossedCounter are the crash points on the way to the counter, each named for its script.
func crossedCounter(p *process, scripts map[string]string) func(hash string, call func() error) error {
	return func(hash string, call func() error) error { return crossed(p, "counter."+scripts[hash], call) }
}

// readScripts names the strategies' scripts by their hash.
func readScripts(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../store/strategy/lua/*.lua")
	if err != nil || len(paths) == 0 {
		t.Fatalf("find the scripts: %d %v", len(paths), err)
	}
	names := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha1.Sum(text)
		names[hex.EncodeToString(sum[:])] = strings.TrimSuffix(filepath.Base(path), ".lua")
	}
	return names
}
