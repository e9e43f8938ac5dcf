package main

import (
	"context"
	"sync"
	"time"

	"foyer/admission"
	"foyer/config"
	"foyer/proxy"
)

const (
	sweepEvery = time.Second
	lingers    = 10 * time.Second // how long a room stays at least after its gate was taken out of the file: longer than a join takes
)

// roomSet are the rooms of the gates in force, and of those that a reload has taken away until nobody is in them any
// more. Run is the life of all rooms; everything else may be called before and during it.
type roomSet struct {
	wake chan struct{} // of capacity 1: there is something to start

	mu      sync.Mutex
	current []room               // of the configuration in force, in its order
	open    map[string]*openRoom // by gate
	waiting []*openRoom          // to be started
	lines   map[string]*line     // of every gate there ever was: one that comes back finds its line
}

// room is a gate of the configuration with the room behind it.
type room struct {
	config.Gate
	*admission.Room
}

// openRoom is a room that runs, or is about to.
type openRoom struct {
	*admission.Room
	stop  context.CancelFunc // nil before it runs
	since time.Time          // when its gate was taken away; zero while it is in force
}

// line is where the line of a gate is, and what keeps a room's view of it; nil for nothing.
type line struct {
	store  admission.Store
	keeper admission.Keeper
	used   bool // a room has run on it
}

// lineFunc opens the line of a gate, and roomFunc makes a room on it.
type (
	lineFunc func(gate string) (admission.Store, admission.Keeper)
	roomFunc func(cfg *config.Config, gate config.Gate, line line) *admission.Room
)

// saver is the keeper of a room that is not the first of its gate in this process: what an earlier process has kept is
// older than what happened since.
type saver struct{ admission.Keeper }

// Load finds nothing.
func (saver) Load() (admission.Kept, bool, error) { return admission.Kept{}, false, nil }

func newRoomSet() *roomSet {
	return &roomSet{wake: make(chan struct{}, 1), open: map[string]*openRoom{}, lines: map[string]*line{}}
}

// plan finds a room for every gate of a configuration, in the order of the file, and makes those that there are not. None
// of them runs yet, and nothing is in force.
func (s *roomSet) plan(cfg *config.Config, open lineFunc, newRoom roomFunc) []room {
	s.mu.Lock()
	defer s.mu.Unlock()
	planned := make([]room, len(cfg.Gates))
	for i, gate := range cfg.Gates {
		planned[i].Gate = gate
		if open := s.open[gate.Name]; open != nil {
			planned[i].Room = open.Room
			if !open.since.IsZero() {
				open.since = time.Now() // it must not stop in the meantime
			}
			continue
		}
		planned[i].Room = newRoom(cfg, gate, s.lineLocked(gate.Name, open))
	}
	return planned
}

// lineLocked opens the line of a gate, or finds it where it has been opened before.
func (s *roomSet) lineLocked(gate string, open lineFunc) line {
	if s.lines[gate] == nil {
		store, keeper := open(gate)
		s.lines[gate] = &line{store: store, keeper: keeper}
	}
	found := *s.lines[gate]
	if found.used && found.keeper != nil {
		found.keeper = saver{found.keeper}
	}
	return found
}

// start has the planned rooms run that do not yet. Visitors are not sent to them before take.
func (s *roomSet) start(planned []room) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, room := range planned {
		if open := s.open[room.Name]; open != nil {
			open.since = time.Time{}
			continue
		}
		open := &openRoom{Room: room.Room}
		s.open[room.Name], s.waiting = open, append(s.waiting, open)
		s.lines[room.Name].used = true
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// take puts a configuration in force: the rooms it keeps take over its values, and those it does not name stop as soon
// as nobody is in them.
func (s *roomSet) take(cfg *config.Config, planned []room) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, room := range planned {
		room.Reload(rules(room.Gate, cfg.Tokens.Leeway, holdTTL(cfg, room.Gate)))
		room.Adjust(room.Session.Inflight, admission.OnStoreError(room.OnStoreError))
	}
	named := map[string]bool{}
	for _, room := range planned {
		named[room.Name] = true
	}
	for name, open := range s.open {
		if !named[name] && open.since.IsZero() {
			open.since = time.Now()
		}
	}
	s.current = planned
}

// list are the rooms in force, in the order of the file.
func (s *roomSet) list() []room {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// operated are the rooms in force as their operators see them.
func (s *roomSet) operated() map[string]proxy.Operated {
	gates := map[string]proxy.Operated{}
	for _, room := range s.list() {
		gates[room.Name] = room.Room
	}
	return gates
}

// Run runs the rooms until ctx ends.
func (s *roomSet) Run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-sweep.C:
			s.sweep(time.Now())
		case <-s.wake:
			s.run(ctx, &running)
		}
	}
}

// run starts what is to be started.
func (s *roomSet) run(ctx context.Context, running *sync.WaitGroup) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, open := range s.waiting {
		ctx, stop := context.WithCancel(ctx)
		open.stop = stop
		running.Go(func() {
			defer stop()
			_ = open.Run(ctx) // a room says in its log what is wrong, and never gives up
		})
	}
	s.waiting = nil
}

// sweep stops the rooms that are not in force and in which nobody is.
func (s *roomSet) sweep(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, open := range s.open {
		if open.since.IsZero() || open.stop == nil || now.Sub(open.since) < lingers || open.Busy() > 0 {
			continue
		}
		open.stop()
		delete(s.open, name)
	}
}
