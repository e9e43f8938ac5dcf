package pgstore

import (
	"errors"
	"testing"
)

// Whoever is behind one that has left without reading his answer would read that one.
func TestPipeline_NobodyReadsBehindOneWhoHasLeft(t *testing.T) {
	turn := make(chan struct{})
	close(turn)
	line := &pipeline{}
	if err := line.await(t.Context(), sent{turn: turn}); err != nil {
		t.Errorf("in its turn: %v", err)
	}
	line.broken.Store(true)
	if err := line.await(t.Context(), sent{turn: turn}); !errors.Is(err, errBroken) {
		t.Errorf("behind one who has left: %v", err)
	}
}
