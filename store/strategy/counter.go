package strategy

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"foyer/origin"
)

// errUnbuilt: an event has no counter: it never had one, or Redis has lost it.
var errUnbuilt = errors.New("the event has no counter")

// What has become of a take: its row is written; it is sold, and never given back; or its units are given back.
const (
	takeHeld = "held"
	takeSold = "sold"
	takeFree = "free"
)

const (
	claimLimit   = 16               // groups of takes that are taken over at once
	replicaLasts = 10 * time.Minute // how long a replica without takes is remembered
)

// What take.lua answers for a hold.
const (
	takeTooLate = '0' + iota
	takeDone
	takeKnown
)

//go:embed lua/*.lua
var scripts embed.FS

var (
	takeScript    = script("take")
	resolveScript = script("resolve")
	buildScript   = script("build")
	readScript    = script("read")
	mendScript    = script("mend")
	claimScript   = script("claim")
)

// counter is the forgetful copy of what remains of events, in Redis. Each method is one script, hence one atomic step.
type counter struct {
	redis   redis.UniversalClient
	prefix  string
	replica string // this process, in the groups that read the pending takes
}

// take is a take as Redis keeps it.
type take struct {
	hold    string
	units   int64
	pending bool
	age     time.Duration // of a pending one as read by read, by Redis's clock
}

// reading is a counter with its pending takes as of one moment.
type reading struct {
	remaining, epoch, seq int64
	takes                 int64
	pending               []take
}

// take takes for a group of holds and answers for each, with the same answer for the same id.
func (c counter) take(ctx context.Context, event string, requests []origin.HoldRequest) ([]byte, error) {
	args := make([]any, 1, 1+2*len(requests))
	args[0] = c.replica
	place := make(map[string]int, len(requests)) // of an id's answer
	for _, r := range requests {
		if _, twice := place[r.ID]; !twice {
			place[r.ID] = len(place)
			args = append(args, r.ID, strconv.FormatInt(r.Quantity, 10)+" "+r.Buyer)
		}
	}
	digits, err := takeScript.Run(ctx, c.redis, c.keys(event), args...).Text()
	if err != nil {
		return nil, unbuilt("take from the counter", err)
	}
	if len(digits) != len(place) {
		return nil, fmt.Errorf("take from the counter: %d answers for %d holds", len(digits), len(place))
	}
	answers := make([]byte, len(requests))
	for i, r := range requests {
		answers[i] = digits[place[r.ID]]
	}
	return answers, nil
}

// claim takes over pending takes that their replica has been silent about. Two replicas never get the same ones.
func (c counter) claim(ctx context.Context, event string, silent time.Duration) ([]origin.HoldRequest, error) {
	answer, err := claimScript.Run(ctx, c.redis, c.keys(event),
		c.replica, silent.Milliseconds(), claimLimit, replicaLasts.Milliseconds()).Slice()
	if err != nil {
		return nil, unbuilt("claim takes", err)
	}
	var requests []origin.HoldRequest
	for i := 0; i+2 < len(answer); i += 3 {
		r := origin.HoldRequest{Event: event}
		r.ID, _ = answer[i].(string)
		r.Buyer, _ = answer[i+1].(string)
		r.Quantity, _ = answer[i+2].(int64)
		requests = append(requests, r)
	}
	return requests, nil
}

// resolve says what has become of takes, by hold, and returns the units that were given back.
func (c counter) resolve(ctx context.Context, event string, became map[string]string) (int64, error) {
	if len(became) == 0 {
		return 0, nil
	}
	args := make([]any, 2, 2+len(became))
	for i, what := range []string{takeHeld, takeSold, takeFree} {
		before := len(args)
		for hold, is := range became {
			if is == what {
				args = append(args, hold)
			}
		}
		if what != takeFree {
			args[i] = len(args) - before
		}
	}
	given, err := resolveScript.Run(ctx, c.redis, c.keys(event), args...).Int64()
	return given, unbuilt("resolve takes", err)
}

// build makes a counter of an epoch, unless there is one of it or a later one.
func (c counter) build(ctx context.Context, event string, epoch, remaining int64) error {
	if err := buildScript.Run(ctx, c.redis, c.keys(event), epoch, remaining).Err(); err != nil {
		return fmt.Errorf("build the counter: %w", err)
	}
	return nil
}

// read reads a counter with its pending takes.
func (c counter) read(ctx context.Context, event string) (reading, error) {
	const fixed, each = 5, 3
	answer, err := readScript.Run(ctx, c.redis, c.keys(event)).Slice()
	if err != nil {
		return reading{}, unbuilt("read the counter", err)
	}
	number := func(i int) int64 { n, _ := answer[i].(int64); return n }
	r := reading{remaining: number(0), epoch: number(1), seq: number(2), takes: number(3)}
	for i := fixed; i+each <= len(answer); i += each {
		hold, _ := answer[i].(string)
		age := time.Duration(number(i+2)) * time.Millisecond
		r.pending = append(r.pending, take{hold: hold, units: number(i + 1), pending: true, age: age})
	}
	return r, nil
}

// mend adds to a counter, if nothing has happened to it since it was read.
func (c counter) mend(ctx context.Context, event string, seen reading, units int64) error {
	if err := mendScript.Run(ctx, c.redis, c.keys(event)[:1], seen.epoch, seen.seq, units).Err(); err != nil {
		return fmt.Errorf("mend the counter: %w", err)
	}
	return nil
}

// walk hands all takes of an event to visit, some at a time; one may come twice.
func (c counter) walk(ctx context.Context, event string, visit func(some []take) error) error {
	const chunk = 1000
	for cursor := uint64(0); ; {
		flat, next, err := c.redis.HScan(ctx, c.keys(event)[1], cursor, "", chunk).Result()
		if err != nil {
			return fmt.Errorf("walk the takes: %w", err)
		}
		some := make([]take, 0, len(flat)/2)
		for i := 0; i+1 < len(flat); i += 2 {
			some = append(some, parseTake(flat[i], flat[i+1]))
		}
		if len(some) > 0 {
			if err := visit(some); err != nil {
				return err
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// pending finds a pending take's hold as far as Redis knows it; ok is false where there is none.
func (c counter) pending(ctx context.Context, event, id string) (hold origin.Hold, ok bool, err error) {
	value, err := c.redis.HGet(ctx, c.keys(event)[1], id).Result()
	if errors.Is(err, redis.Nil) {
		return origin.Hold{}, false, nil
	}
	if err != nil {
		return origin.Hold{}, false, fmt.Errorf("find a pending take: %w", err)
	}
	_, entry, isPending := strings.Cut(value, " ")
	if !isPending {
		return origin.Hold{}, false, nil
	}
	entries, err := c.redis.XRange(ctx, c.keys(event)[2], entry, entry).Result()
	if err != nil || len(entries) == 0 {
		return origin.Hold{}, false, err
	}
	take, _ := entries[0].Values[id].(string)
	_, buyer, _ := strings.Cut(take, " ")
	return origin.Hold{
		ID: id, Event: event, Buyer: buyer, Quantity: parseTake(id, value).units, State: origin.HoldPending,
	}, true, nil
}

// keys are an event's counter, takes and stream of pending takes, in one hash slot, and apart from the keys of a gate that
// has the event's name.
func (c counter) keys(event string) []string {
	slot := c.prefix + "shop:{" + event + "}:"
	return []string{slot + "counter", slot + "takes", slot + "pending"}
}

func parseTake(hold, value string) take {
	units, _, pending := strings.Cut(value, " ")
	t := take{hold: hold, pending: pending}
	t.units, _ = strconv.ParseInt(units, 10, 64)
	return t
}

func unbuilt(verb string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, redis.Nil):
		return errUnbuilt
	default:
		return fmt.Errorf("%s: %w", verb, err)
	}
}

func script(name string) *redis.Script {
	text, err := scripts.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic(err) // it is embedded
	}
	return redis.NewScript(string(text))
}
