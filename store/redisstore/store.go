package redisstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"foyer/admission"
)

// replyKept is how long the answer to a Join is remembered.
const replyKept = time.Minute

// Settings say where a Store keeps which gate.
type Settings struct {
	Client redis.UniversalClient // one that does not retry, see Dial
	Prefix string                // before every key
	Gate   string                // the gate's name
}

// Store is one gate's line in Redis. Make one with New; it holds no state, so that any number may stand for one gate.
type Store struct {
	client redis.UniversalClient
	gate   string
	keys   keys
}

var _ admission.Store = (*Store)(nil)

// New makes a store; it does not reach for Redis.
func New(settings Settings) *Store {
	return &Store{client: settings.Client, gate: settings.Gate, keys: newKeys(settings.Prefix, settings.Gate)}
}

// Begin starts a round unless one is under way.
func (s *Store) Begin(ctx context.Context, round string, file admission.Rules) (admission.Standing, error) {
	args := append([]any{round, rand.Text()}, encode(file)...)
	return s.stand(ctx, "begin", beginScript, admission.Seen{}, args...)
}

// Configure takes over what has changed in the configuration file.
func (s *Store) Configure(ctx context.Context, seen admission.Seen, file admission.Rules) (admission.Standing, error) {
	return s.stand(ctx, "configure", configureScript, seen, encode(file)...)
}

// Change sets effective values.
func (s *Store) Change(ctx context.Context, seen admission.Seen, change admission.Change) (admission.Standing, error) {
	mode := (*string)(change.Mode)
	return s.stand(ctx, "change", changeScript, seen, optional(mode), optional(change.Capacity), optional(change.AdmitRate))
}

// Join gives out tickets. It is the only verb that a full Redis refuses.
func (s *Store) Join(ctx context.Context, join admission.Join) (admission.Joined, error) {
	if join.N < 1 {
		return admission.Joined{}, errors.New("join gate " + s.gate + ": no ticket asked for")
	}
	family, remember := "near", replyKept.Milliseconds()
	if join.Family == admission.Far {
		family = "far"
	}
	if join.ID == "" {
		remember = 0
	}
	r, standing := s.run(ctx, joinScript, s.keys.join(join.ID), join.Seen, join.N, family, remember)
	joined := admission.Joined{
		Standing: standing,
		First:    r.ticket(), N: int(r.int()), Leased: int(r.int()), Expires: r.time(), Refusal: admission.Refusal(r.text()),
	}
	return answer(joined, s, "join", r)
}

// Claim turns an offer into a lease.
func (s *Store) Claim(ctx context.Context, seen admission.Seen, ticket admission.Ticket) (admission.Claimed, error) {
	return s.slot(ctx, "claim", claimScript, seen, ticket)
}

// Renew moves a lease's end.
func (s *Store) Renew(ctx context.Context, seen admission.Seen, ticket admission.Ticket, until time.Time) (admission.Claimed, error) {
	return s.slot(ctx, "renew", renewScript, seen, ticket, until.UnixMilli())
}

// Release ends a ticket for good.
func (s *Store) Release(ctx context.Context, seen admission.Seen, ticket admission.Ticket) (admission.Standing, error) {
	return s.stand(ctx, "release", releaseScript, seen, decimal(uint64(ticket)))
}

// Reset begins a new round.
func (s *Store) Reset(ctx context.Context, seen admission.Seen, round string) (admission.Standing, error) {
	return s.stand(ctx, "reset", resetScript, seen, round)
}

// stand runs a script that answers with a standing alone.
func (s *Store) stand(ctx context.Context, verb string, script *redis.Script, seen admission.Seen, args ...any) (admission.Standing, error) {
	r, standing := s.run(ctx, script, s.keys.all, seen, args...)
	return answer(standing, s, verb, r)
}

// slot runs a script that answers with a ticket's slot.
func (s *Store) slot(ctx context.Context, verb string, script *redis.Script, seen admission.Seen, ticket admission.Ticket, args ...any) (admission.Claimed, error) {
	r, standing := s.run(ctx, script, s.keys.all, seen, append([]any{decimal(uint64(ticket))}, args...)...)
	return answer(admission.Claimed{Standing: standing, Slot: r.slot(ticket)}, s, verb, r)
}

// run runs a script, by its digest where Redis has it already.
func (s *Store) run(ctx context.Context, script *redis.Script, keys []string, seen admission.Seen, args ...any) (*reader, admission.Standing) {
	args = append([]any{seen.Run, decimal(seen.Seq), millis(seen.Now)}, args...)
	value, err := script.Run(ctx, s.client, keys, args...).Result()
	if redis.HasErrorPrefix(err, "OOM") {
		err = fmt.Errorf("%w: %w", admission.ErrFull, err)
	}
	if err != nil {
		return &reader{err: err}, admission.Standing{}
	}
	return read(value)
}

// answer is what a verb returns: what was read, or what went wrong.
func answer[R any](value R, s *Store, verb string, r *reader) (R, error) {
	if r.err != nil {
		var none R
		return none, fmt.Errorf("%s gate %s: %w", verb, s.gate, r.err)
	}
	return value, nil
}
