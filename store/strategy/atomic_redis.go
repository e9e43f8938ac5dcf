package strategy

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"foyer/origin"
)

const (
	// counterTimeout bounds one step at the counter. It only spares the ledger; nobody waits for it longer.
	counterTimeout = 500 * time.Millisecond
	// buildTries is how often a missing counter is built or waited for.
	buildTries = 5
	// buildPause is the pause while another replica builds it.
	buildPause = 10 * time.Millisecond
	// claimEvery is the pause between two looks for takes that a dead replica left.
	claimEvery = time.Second
	// closePause is how long groups of takes that are to be closed wait for the event's next take.
	closePause = 5 * time.Millisecond
	// resolvesAtOnce is the most groups whose takes are resolved in one step.
	resolvesAtOnce = 8
)

var (
	// errNoEvent: the ledger has no such event.
	errNoEvent = errors.New("no such event")
	// errTooLate: the counter had no units left for a hold.
	errTooLate = errors.New("too late")
)

// atomicRedis takes from a counter in Redis before it goes to the ledger, in groups both times. The counter is only a
// doorkeeper: it spares the ledger those who come too late. Where it cannot be reached, holds go to the ledger alone.
type atomicRedis struct {
	Settings
	counter  counter
	takes    *batcher[taking, origin.HoldReply] // the stage before groups
	groups   *batcher[taking, origin.HoldReply]
	resolves *batcher[resolution, struct{}]
	closing  closing
	events   sync.Map // of the events seen, id → the most units of one buyer
}

// taking is a request on its way to the ledger.
type taking struct {
	origin.HoldRequest
	group *takes // that it was taken with, nil where it was taken before, or without the counter
}

// takes are those of one entry of the stream.
type takes struct {
	entry string
	left  atomic.Int64 // of which the ledger has still to say what they become
}

var _ origin.Strategy = (*atomicRedis)(nil)

func newAtomicRedis(settings Settings) *atomicRedis {
	s := &atomicRedis{Settings: settings, counter: counter{
		redis: settings.Redis, prefix: settings.Prefix, replica: rand.Text(),
	}}
	s.groups = newStage(settings.Group, nil, s.writeGroup)
	s.takes = newStage(settings.Group, s.groups, s.takeGroup)
	s.resolves = newBatcher(resolvesAtOnce, s.resolveGroups)
	return s
}

// patiences are timers of Hold, used again: there are as many as there are holds, and hardly one ever ends.
var patiences = sync.Pool{New: func() any { return time.NewTimer(time.Hour) }}

// Hold implements [origin.Strategy]. Once a take has been sent the work goes on without the caller.
func (s *atomicRedis) Hold(ctx context.Context, request origin.HoldRequest) (origin.HoldReply, error) {
	answered := s.takes.join(ctx, request.Event, taking{HoldRequest: request})
	patience := patiences.Get().(*time.Timer)
	patience.Reset(s.Patience)
	defer func() {
		patience.Stop()
		patiences.Put(patience)
	}()
	var o outcome[origin.HoldReply]
	select {
	case o = <-answered:
	case <-ctx.Done():
		o.err = fmt.Errorf("wait for the ledger: %w", context.Cause(ctx))
	case <-patience.C:
		if hold, ok, err := s.Pending(ctx, request.ID); err == nil && ok {
			return origin.HoldReply{Hold: hold}, nil
		}
		o.answer, o.err = await(ctx, answered)
	}
	if errors.Is(o.err, errTooLate) {
		return s.tooLate(ctx, request)
	}
	return o.answer, o.err
}

// Pending implements [origin.Strategy]. It looks at the events that this process has seen.
func (s *atomicRedis) Pending(ctx context.Context, id string) (hold origin.Hold, ok bool, err error) {
	s.events.Range(func(event, _ any) bool {
		hold, ok, err = s.counter.pending(ctx, event.(string), id)
		return !ok && err == nil
	})
	if !ok || err != nil {
		return origin.Hold{}, false, err
	}
	stock, _, err := s.Ledger.Event(ctx, hold.Event)
	hold.Amount, hold.Currency = hold.Quantity*stock.Amount, stock.Currency
	return hold, err == nil, err
}

// GaveBack implements [origin.Strategy].
func (s *atomicRedis) GaveBack(ctx context.Context, ended origin.Ended) error {
	_, err := s.counter.resolve(ctx, ended.Event, resolution{became: map[string]string{ended.Hold: takeFree}})
	if errors.Is(err, errUnbuilt) {
		return nil // the counter will be built from a ledger that has the units back already
	}
	return err
}

// Reconcile implements [origin.Strategy].
func (s *atomicRedis) Reconcile(ctx context.Context, event string) (origin.Reconciliation, error) {
	if err := s.look(ctx, event); err != nil {
		return origin.Reconciliation{Event: event}, err
	}
	return (&reconciler{counter: s.counter, ledger: s.Ledger, grace: s.Grace, event: event, build: s.build}).mend(ctx)
}

// Compare implements [origin.Strategy].
func (s *atomicRedis) Compare(ctx context.Context, event string) (origin.Reconciliation, error) {
	return (&reconciler{counter: s.counter, ledger: s.Ledger, event: event}).report(ctx)
}

// Run implements [origin.Strategy]: it looks for takes that a dead replica left. At its end it waits for what is under way.
func (s *atomicRedis) Run(ctx context.Context) error {
	ticker := time.NewTicker(claimEvery)
	defer ticker.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-ticker.C:
			s.events.Range(func(event, _ any) bool {
				s.inherit(ctx, event.(string))
				return ctx.Err() == nil
			})
		}
	}
	s.takes.drain()
	s.groups.drain()
	s.events.Range(func(event, _ any) bool {
		s.resolves.join(context.Background(), event.(string), resolution{}) // closes what no take will
		return true
	})
	s.resolves.drain()
	return nil
}

// inherit voids the takes of an event whose replica has not written them within the grace, or hears what has become of
// them. Its buyers, if they still wait, ask again and get another hold.
func (s *atomicRedis) inherit(ctx context.Context, event string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), groupTimeout)
	defer cancel()
	left, err := s.counter.claim(ctx, event, s.Grace)
	if len(left) > 0 {
		became := make(map[string]string, len(left))
		s.compensate(ctx, event, left, became)
		var given int64
		given, err = s.counter.resolve(ctx, event, resolution{became: became})
		s.Logger.Info("takes of another replica ended", zap.String("event", event), zap.Int("takes", len(became)), zap.Int64("given_back", given))
	}
	if err != nil && !errors.Is(err, errUnbuilt) {
		s.Logger.Warn("takes left by others not looked at", zap.String("event", event), zap.Error(err))
	}
}

// see notes an event and its limit, once. Reconcile notes it again.
func (s *atomicRedis) see(event string) error {
	if _, seen := s.events.Load(event); seen {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), groupTimeout)
	defer cancel()
	return s.look(ctx, event)
}

func (s *atomicRedis) look(ctx context.Context, event string) error {
	stock, ok, err := s.Ledger.Event(ctx, event)
	if err != nil {
		return err
	}
	if !ok {
		return errNoEvent
	}
	s.events.Store(event, stock.MaxPerBuyer)
	return nil
}

// tooLate answers for a request that the counter has no units for: one that no buyer may ask for is told so. A counter that
// was built anew knows nothing of earlier takes, so one that may have been asked for before is looked up.
func (s *atomicRedis) tooLate(ctx context.Context, request origin.HoldRequest) (origin.HoldReply, error) {
	if request.Repeated {
		_, known, err := s.Ledger.Standing(ctx, request.Event, []string{request.ID})
		if hold, ok := known[request.ID]; ok || err != nil {
			return origin.HoldReply{Hold: hold, Refusal: hold.Reason}, err
		}
	}
	if limit, _ := s.events.Load(request.Event); request.Quantity > limit.(int64) {
		return origin.HoldReply{Refusal: origin.LimitExceeded}, nil
	}
	return origin.HoldReply{Refusal: origin.SoldOut}, nil
}
