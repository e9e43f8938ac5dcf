package origin

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	shelfLasts = 200 * time.Millisecond // how long a look is good enough for a crowd that is refused
	shelfEvery = time.Second            // between two looks, whatever is sold
)

// shelf looks at what is left to sell and tells those in front of the shop, so that nobody goes on waiting for nothing.
// Units on hold may come back: they count as left.
type shelf struct {
	ledger Ledger
	tell   func(left map[string]int64) // nil: the gate in front is told by Foyer-Command
	logger *zap.Logger

	mu     sync.Mutex
	looked time.Time
	left   int64 // of all events together
}

// run looks once per period, so that a gate hears of what other replicas have sold, and of a capacity that was raised.
func (s *shelf) run(ctx context.Context) error {
	if s.tell == nil {
		<-ctx.Done()
		return nil
	}
	return every(ctx, shelfEvery, func(ctx context.Context) {
		if err := s.look(ctx); err != nil && ctx.Err() == nil {
			s.logger.Warn("what is left is not known", zap.Error(err))
		}
	})
}

// commands are for the gate through which a sale, or a refusal for want of units, goes out. A gate that is told by
// Foyer-Command may stand in front of any event, so it hears of all of them together.
func (s *shelf) commands(ctx context.Context, sale bool) []string {
	s.mu.Lock()
	left, fresh := s.left, time.Since(s.looked) < shelfLasts
	s.mu.Unlock()
	if !fresh || sale && s.tell == nil {
		if err := s.look(ctx); err != nil {
			return nil
		}
		s.mu.Lock()
		left = s.left
		s.mu.Unlock()
	}
	if s.tell != nil {
		return nil
	}
	return []string{fmt.Sprintf("stock=%d", left)}
}

func (s *shelf) look(ctx context.Context) error {
	stocks, err := s.ledger.Events(ctx)
	if err != nil {
		return fmt.Errorf("list events: %w", err)
	}
	var sum int64
	left := make(map[string]int64, len(stocks))
	for _, stock := range stocks {
		left[stock.ID] = stock.Capacity - stock.Sold
		sum += left[stock.ID]
	}
	s.mu.Lock()
	s.looked, s.left = time.Now(), sum
	s.mu.Unlock()
	if s.tell != nil {
		s.tell(left)
	}
	return nil
}
