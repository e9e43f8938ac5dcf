package strategy_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"foyer/internal/services"
	"foyer/origin"
	"foyer/store/strategy"
)

// TestStrategies_KeepWhatTheyAcknowledgedThroughAKilledDatabase kills PostgreSQL in mid-sale and starts it again.
// Buyers who got no answer ask again with the same id.
func TestStrategies_KeepWhatTheyAcknowledgedThroughAKilledDatabase(t *testing.T) {
	const capacity, buyers = 300, 900
	for _, name := range strategy.Names() {
		if name == strategy.Naive {
			continue
		}
		t.Run(name, func(t *testing.T) {
			server := services.PrivatePostgres(t)
			ledger := onPostgresAt(t, server.URL())
			s := shelf(t, name, ledger, strategy.Settings{})
			event := origin.Event{ID: "e", Name: "e", Capacity: capacity, Amount: 100, Currency: "eur", MaxPerBuyer: 1}
			if _, err := ledger.PutEvent(t.Context(), event); err != nil {
				t.Fatal(err)
			}
			var (
				tried atomic.Int64
				mu    sync.Mutex
				made  []string
				wg    sync.WaitGroup
			)
			for range 16 {
				wg.Go(func() {
					for i := tried.Add(1); i <= buyers; i = tried.Add(1) {
						id := fmt.Sprint("h", i)
						reply, ok := persist(t, s.Strategy, ask(id))
						if ok && reply.Refusal == origin.NotRefused && reply.Hold.State == origin.HoldActive {
							mu.Lock()
							made = append(made, id)
							mu.Unlock()
						}
					}
				})
			}
			for tried.Load() < 100 {
				time.Sleep(time.Millisecond)
			}
			if err := server.Kill(); err != nil {
				t.Error(err)
			}
			if err := server.Restart(); err != nil {
				t.Error(err)
			}
			wg.Wait()
			for _, id := range made {
				if hold, ok, err := ledger.Hold(t.Context(), id); err != nil || !ok || hold.State != origin.HoldActive {
					t.Errorf("%s was acknowledged and is %+v %v %v", id, hold, ok, err)
				}
			}
			audit, _, err := ledger.Audit(t.Context(), "e")
			if err != nil || audit.Held != audit.HeldRows || audit.Held > capacity || int(audit.Held) < len(made) {
				t.Errorf("held %d, in rows %d, acknowledged %d (%v)", audit.Held, audit.HeldRows, len(made), err)
			}
		})
	}
}

// persist asks until there is an answer.
func persist(t *testing.T, s origin.Strategy, request origin.HoldRequest) (origin.HoldReply, bool) {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if reply, err := s.Hold(t.Context(), request); err == nil {
			return reply, true
		}
	}
	t.Errorf("%s: no answer in 30 s", request.ID)
	return origin.HoldReply{}, false
}
