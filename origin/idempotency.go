package origin

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	longestKey = 255
	// claimLasts is how long a run owns its key. It may be short: a run that is overtaken does no harm, since both work
	// on the same hold or attempt, and the fence keeps only one answer.
	claimLasts = 5 * time.Second
	patience   = 2 * time.Second // how long a second request waits for the first one's answer
	firstLook  = 20 * time.Millisecond
	longLook   = 200 * time.Millisecond
)

// idempotency runs a request at most once per key, and replays its answer. The ledger decides; runs of this process are
// known here too, so that those who wait for one hear of its end at once.
type idempotency struct {
	ledger Ledger

	mu      sync.Mutex
	running map[Key]chan struct{} // closed when the run ends
}

// begun is what became of a key: a claim to run, an answer to replay, or a refusal.
type begun struct {
	fence   int64
	replay  *Answer
	refusal Refusal // keyReused or requestInProgress
}

// begin claims the key, or waits for the answer of who has it. A claim that is on its way to the ledger is not given up
// when the client hangs up or patience ends: it would be nobody's until it lapses.
func (i *idempotency) begin(ctx context.Context, key Key, fingerprint string) (begun, error) {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	var patient *time.Timer
	for pause := firstLook; ; pause = min(2*pause, longLook) {
		state, err := i.claim(ctx, key, fingerprint)
		switch {
		case err != nil:
			return begun{}, fmt.Errorf("claim key: %w", err)
		case state.Mismatch:
			return begun{refusal: keyReused}, nil
		case state.Answer != nil:
			return begun{replay: state.Answer}, nil
		case state.Claimed:
			i.start(key)
			return begun{fence: state.Fence}, nil
		}
		if patient == nil {
			patient = time.AfterFunc(patience, cancel)
			defer patient.Stop()
		}
		if !i.wait(waiting, key, pause) {
			return begun{refusal: requestInProgress}, nil
		}
	}
}

func (i *idempotency) claim(ctx context.Context, key Key, fingerprint string) (KeyState, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTime)
	defer cancel()
	return i.ledger.ClaimKey(ctx, key, fingerprint, claimLasts)
}

// end keeps a determined answer, and gives the claim up for any other.
func (i *idempotency) end(ctx context.Context, key Key, fence int64, o outcome) error {
	defer i.finish(key)
	if !o.final {
		giveUp := i.ledger.DropKey
		if o.unbound {
			giveUp = i.ledger.ForgetKey
		}
		if err := giveUp(ctx, key, fence); err != nil && !errors.Is(err, ErrFenced) {
			return fmt.Errorf("give up key: %w", err)
		}
		return nil
	}
	err := i.ledger.KeepAnswer(ctx, key, fence, o.Answer)
	if err != nil && !errors.Is(err, ErrFenced) {
		return fmt.Errorf("keep answer: %w", err)
	}
	return nil // who took over keeps the same answer
}

func (i *idempotency) start(key Key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.running == nil {
		i.running = make(map[Key]chan struct{})
	}
	if i.running[key] == nil { // else a run was overtaken by this one: whichever ends first is heard
		i.running[key] = make(chan struct{})
	}
}

func (i *idempotency) finish(key Key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if ended := i.running[key]; ended != nil {
		close(ended)
		delete(i.running, key)
	}
}

// wait pauses until a run of this process ends or, in case another one has it, for a while; false when the context
// ended.
func (i *idempotency) wait(ctx context.Context, key Key, pause time.Duration) bool {
	i.mu.Lock()
	ended := i.running[key]
	i.mu.Unlock()
	if ended != nil {
		pause = longLook
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-ended: // never, where this process has no run
	case <-timer.C:
	}
	return true
}

// idempotencyKey reads the header: given is false where there is none.
func idempotencyKey(r *http.Request) (key string, given bool, refusal Refusal, detail string) {
	values := r.Header.Values("Idempotency-Key")
	switch {
	case len(values) == 0 || len(values) == 1 && values[0] == "":
		return "", false, NotRefused, ""
	case len(values) > 1:
		return "", true, keyInvalid, "more than one value"
	case len(values[0]) > longestKey:
		return "", true, keyInvalid, fmt.Sprintf("longer than %d characters", longestKey)
	case !printable(values[0]):
		return "", true, keyInvalid, "only visible ASCII characters and spaces"
	}
	return values[0], true, NotRefused, ""
}

// fingerprint tells requests of one key apart. Its parts are the canonical values, so that white space and the order
// of members in the body do not matter.
func fingerprint(parts ...any) string {
	sum := sha256.Sum256(encodeJSON(parts))
	return hex.EncodeToString(sum[:])
}

// derive makes an id from an idempotency key: the same request is the same hold or the same attempt, whichever process
// runs it, and whatever became of the one before.
func derive(prefix string, key Key, generation int) string {
	sum := sha256.Sum256(encodeJSON([]any{key.Buyer, key.Route, key.Key, generation}))
	return prefix + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:26])
}

// sleep pauses; false when the context ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
