package store

import (
	"context"
	"sync"

	"go.uber.org/zap"

	"foyer/admission"
	"foyer/store/statefile"
)

// state keeps the images of all gates of this process in one file.
type state struct {
	file *statefile.File

	mu     sync.Mutex
	images map[string]func() admission.Image // by gate
	kept   map[string]admission.Image        // what keepers were given, by gate
}

func newState(file *statefile.File) *state {
	return &state{file: file, images: map[string]func() admission.Image{}, kept: map[string]admission.Image{}}
}

// add has the file hold what image answers with, for a gate whose line is in this process.
func (s *state) add(gate string, image func() admission.Image) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.images[gate] = image
}

// keeper has the file hold what a room saves, for a gate whose line is elsewhere. Until it does, the file goes on holding
// what it held: a store that is away all the time must not make a replica forget.
func (s *state) keeper(gate string) admission.Keeper {
	s.mu.Lock()
	defer s.mu.Unlock()
	if image := s.file.Image(gate); image != nil {
		s.kept[gate] = *image
	}
	return &keeper{state: s, gate: gate}
}

// run saves until ctx ends, and then for the last time. It logs what is wrong with that once, and when it is over.
func (s *state) run(ctx context.Context, logger *zap.Logger, saved func(error)) error {
	problem := ""
	return s.file.Run(ctx, s.all, func(err error) {
		saved(err)
		text := describe(err)
		switch {
		case text == problem:
		case err != nil:
			logger.Error("state is not saved", zap.Error(err))
		default:
			logger.Info("state is saved again")
		}
		problem = text
	})
}

// describe is an error's text, "" for none.
func describe(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// all is what is known of every gate now.
func (s *state) all() map[string]admission.Image {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]admission.Image, len(s.images)+len(s.kept))
	for gate, image := range s.images {
		all[gate] = image()
	}
	for gate, image := range s.kept {
		all[gate] = image
	}
	return all
}

// keeper is one gate's part of the file.
type keeper struct {
	state *state
	gate  string
}

var _ admission.Keeper = (*keeper)(nil)

// Load is what the process before this one has kept of the gate.
func (k *keeper) Load() (kept admission.Kept, ok bool, err error) {
	image := k.state.file.Image(k.gate)
	if image == nil {
		return admission.Kept{}, false, nil
	}
	return admission.Kept{Gate: k.gate, Clean: k.state.file.Clean(), Image: *image}, true, nil
}

// Save takes over what is to be kept; it reaches the file within a second, or when the process stops.
func (k *keeper) Save(kept admission.Kept) error {
	k.state.mu.Lock()
	defer k.state.mu.Unlock()
	k.state.kept[k.gate] = kept.Image
	return nil
}
