package strategy

import (
	"bytes"
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"foyer/origin"
)

// takeGroup takes for a group, building the counter where there is none, and returns for the ledger who has got something, all of
// them where the take failed.
func (s *atomicRedis) takeGroup(event string, members []*member[taking, origin.HoldReply]) []*member[taking, origin.HoldReply] {
	err := s.see(event)
	var took took
	if err == nil {
		took, err = s.takeBuilding(event, requestsOf(members))
	}
	if err != nil && !errors.Is(err, errNoEvent) {
		s.Logger.Warn("counter not reached, holds go to the ledger alone", zap.String("event", event), zap.Error(err))
	}
	group := &takes{entry: took.entry}
	group.left.Store(int64(bytes.Count(took.answers, []byte{takeDone})))
	passed := members[:0]
	for i, m := range members {
		if err == nil && took.answers[i] == takeTooLate {
			m.answered <- outcome[origin.HoldReply]{err: errTooLate}
			continue
		}
		if err == nil && took.answers[i] == takeDone {
			m.request.group = group
		}
		if s.AfterTake != nil {
			if err := s.AfterTake(m.request.ID); err != nil {
				m.answered <- outcome[origin.HoldReply]{err: err}
				continue
			}
		}
		passed = append(passed, m)
	}
	return passed
}

func requestsOf(members []*member[taking, origin.HoldReply]) []origin.HoldRequest {
	requests := make([]origin.HoldRequest, len(members))
	for i, m := range members {
		requests[i] = m.request.HoldRequest
	}
	return requests
}

func (s *atomicRedis) takeBuilding(event string, requests []origin.HoldRequest) (took took, err error) {
	closed := s.closing.all(event)
	defer func() {
		if err != nil {
			s.close(event, closed)
		}
	}()
	for try := range buildTries {
		ctx, cancel := context.WithTimeout(context.Background(), counterTimeout)
		took, err = s.counter.take(ctx, event, requests, closed)
		if errors.Is(err, errUnbuilt) {
			time.Sleep(time.Duration(try) * buildPause)
			err = errors.Join(err, s.build(ctx, event))
		} else if err != nil && try == 0 {
			took, err = s.counter.take(ctx, event, requests, closed) // the same takes: a lost answer is asked for again
		}
		cancel()
		if !errors.Is(err, errUnbuilt) {
			break
		}
	}
	return took, err
}

// build raises the event's epoch and makes a counter of it. Of several replicas one raises; the others find it built. If
// the one that raised died, the next try raises again.
func (s *atomicRedis) build(ctx context.Context, event string) error {
	seen, ok, err := s.Ledger.Event(ctx, event)
	if err != nil {
		return err
	}
	if !ok {
		return errNoEvent
	}
	stock, raised, err := s.Ledger.RaiseEpoch(ctx, event, seen.Epoch)
	if err != nil || !raised {
		return err
	}
	s.Logger.Info("counter built from the ledger", zap.String("event", event), zap.Int64("epoch", stock.Epoch))
	return s.counter.build(ctx, event, stock.Epoch, stock.Remaining())
}
