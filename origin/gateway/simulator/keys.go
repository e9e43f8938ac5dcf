package simulator

import "sync"

// maxKeys is how many idempotency keys are remembered.
const maxKeys = 100_000

// keyOutcome is what is known of a key.
type keyOutcome int

const (
	keyFresh   keyOutcome = iota // the caller runs the call, and must end it
	keyDone                      // answered before
	keyRunning                   // the first call has not ended
	keyOther                     // used with other parameters
)

// keys remembers what was answered to which idempotency key.
type keys struct {
	mu    sync.Mutex
	byKey map[string]*keyEntry
	order []string // as they came; the oldest is forgotten first
}

type keyEntry struct {
	fingerprint string
	done        bool
	answer      answer
}

func newKeys() *keys { return &keys{byKey: make(map[string]*keyEntry)} }

// begin claims a key for a call, or tells what is known of it.
func (k *keys) begin(key, fingerprint string) (answer, keyOutcome) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if entry := k.byKey[key]; entry != nil {
		switch {
		case entry.fingerprint != fingerprint:
			return answer{}, keyOther
		case entry.done:
			return entry.answer, keyDone
		default:
			return answer{}, keyRunning
		}
	}
	if len(k.order) >= maxKeys {
		delete(k.byKey, k.order[0])
		k.order = k.order[1:]
	}
	k.byKey[key] = &keyEntry{fingerprint: fingerprint}
	k.order = append(k.order, key)
	return answer{}, keyFresh
}

// end keeps the answer of a claimed key. An answer to be forgotten leaves the key unused.
func (k *keys) end(key string, a answer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	entry := k.byKey[key]
	switch {
	case entry == nil: // forgotten meanwhile
	case a.forget:
		entry.fingerprint = ""
		delete(k.byKey, key)
	default:
		a.mute = false // who repeats the call is told
		entry.done, entry.answer = true, a
	}
}
