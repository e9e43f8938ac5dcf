package strategy

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
	hold  string
	units int64
	entry string        // of the stream, that it was taken with, perhaps closed by now; empty where it is known to be
	age   time.Duration // of a pending one as read by read, by Redis's clock
}

// reading is a counter with its pending takes as of one moment.
type reading struct {
	remaining, epoch, seq int64
	takes                 int64
	last                  string // id that the stream gave: what is taken later has a greater one, whatever the clock does
	pending               []take
}

// took is what take has done: an answer for each hold, and the entry of those that are taken.
type took struct {
	answers []byte
	entry   string
}

// resolution is what has become of takes.
type resolution struct {
	became map[string]string // by hold
	groups []string          // the entries of groups whose takes are all resolved or have their rows
}

// take takes for a group of holds and answers for each, with the same answer for the same id. Groups of earlier takes that are
// to be closed are closed by the way.
func (c counter) take(ctx context.Context, event string, requests []origin.HoldRequest, closed []string) (took, error) {
	place := make(map[string]int, len(requests)) // of an id's answer
	ids, units, buyers := make([]string, 0, len(requests)), make([]int64, 0, len(requests)), make([]string, 0, len(requests))
	for _, r := range requests {
		if _, twice := place[r.ID]; !twice {
			place[r.ID] = len(place)
			ids, units, buyers = append(ids, r.ID), append(units, r.Quantity), append(buyers, r.Buyer)
		}
	}
	args := []any{c.replica, list(ids), list(units), list(buyers)}
	for _, entry := range closed {
		args = append(args, entry)
	}
	answer, err := takeScript.Run(ctx, c.redis, c.keys(event), args...).StringSlice()
	if err != nil {
		return took{}, unbuilt("take from the counter", err)
	}
	if len(answer) != 2 || len(answer[0]) != len(ids) {
		return took{}, fmt.Errorf("take from the counter: answer %q for %d holds", answer, len(ids))
	}
	t := took{answers: make([]byte, len(requests)), entry: answer[1]}
	for i, r := range requests {
		t.answers[i] = answer[0][place[r.ID]]
	}
	return t, nil
}

// list writes a JSON list.
func list[E string | int64](items []E) []byte {
	text, err := json.Marshal(items)
	if err != nil {
		panic(err) // strings and numbers are JSON
	}
	return text
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

// resolve says what has become of takes, and returns the units that were given back.
func (c counter) resolve(ctx context.Context, event string, became resolution) (int64, error) {
	if len(became.became)+len(became.groups) == 0 {
		return 0, nil
	}
	kinds := []string{takeHeld, takeSold, takeFree}
	args := make([]any, len(kinds), len(kinds)+len(became.became)+len(became.groups))
	for i, kind := range kinds {
		before := len(args)
		for hold, is := range became.became {
			if is == kind {
				args = append(args, hold)
			}
		}
		args[i] = len(args) - before
	}
	for _, entry := range became.groups {
		args = append(args, entry)
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
	r.last, _ = answer[4].(string)
	for i := fixed; i+each <= len(answer); i += each {
		hold, _ := answer[i].(string)
		age := time.Duration(number(i+2)) * time.Millisecond
		r.pending = append(r.pending, take{hold: hold, units: number(i + 1), age: age})
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
	t := parseTake(id, value)
	if t.entry == "" {
		return origin.Hold{}, false, nil
	}
	entries, err := c.redis.XRange(ctx, c.keys(event)[2], t.entry, t.entry).Result()
	if err != nil || len(entries) == 0 {
		return origin.Hold{}, false, err
	}
	var ids, buyers []string
	if err := errors.Join(unlist(entries[0].Values["ids"], &ids), unlist(entries[0].Values["buyers"], &buyers)); err != nil {
		return origin.Hold{}, false, fmt.Errorf("find a pending take: %w", err)
	}
	i := slices.Index(ids, id)
	if i < 0 || i >= len(buyers) {
		return origin.Hold{}, false, nil
	}
	return origin.Hold{
		ID: id, Event: event, Buyer: buyers[i], Quantity: t.units, State: origin.HoldPending,
	}, true, nil
}

// keys are an event's counter, takes and stream of pending takes, in one hash slot, and apart from the keys of a gate that
// has the event's name.
func (c counter) keys(event string) []string {
	slot := c.prefix + "shop:{" + event + "}:"
	return []string{slot + "counter", slot + "takes", slot + "pending"}
}

// unlist reads a field of an entry, which is a JSON list.
func unlist(field any, into *[]string) error {
	text, _ := field.(string)
	return json.Unmarshal([]byte(text), into)
}

func parseTake(hold, value string) take {
	units, entry, _ := strings.Cut(value, " ")
	t := take{hold: hold, entry: entry}
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
