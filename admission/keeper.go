package admission

import (
	"time"

	"go.uber.org/zap"
)

// keepEvery is how often what a replica knows is kept.
const keepEvery = time.Second

// Keeper keeps what a replica knows beyond the life of its process: its state_file.
type Keeper interface {
	// Load is what was kept last; ok is false where nothing was.
	Load() (kept Kept, ok bool, err error)
	// Save replaces what was kept, as a whole or not at all.
	Save(kept Kept) error
}

// Kept is what a Keeper keeps.
type Kept struct {
	Gate  string
	Clean bool // the replica had stopped when it was kept, so that nothing has been done since
	Image Image
}

// recall takes over what an earlier life of this replica has kept. Only one that had stopped is continued under its
// name: of another nobody knows what it did in its last second. What is older than a place is kept is of no use.
func (r *Room) recall() {
	if r.keeper == nil {
		return
	}
	kept, ok, err := r.keeper.Load()
	switch {
	case err != nil:
		r.log.Warn("kept state cannot be read", zap.Error(err))
		return
	case !ok, kept.Gate != r.gate, kept.Image.Round == "":
		return
	case r.clock.local().Sub(kept.Image.AsOf) > r.file.Keep:
		r.log.Info("kept state is too old", zap.Time("as_of", kept.Image.AsOf))
		return
	}
	if kept.Clean {
		r.replica = kept.Image.Replica
	}
	r.kept, r.told = &kept.Image, kept.Image.File
	r.link.seen = Seen{Run: kept.Image.Run, Seq: kept.Image.Seq}
}

// keep saves what is known once a second, and for the last time when nothing is done any more.
func (r *Room) keep(stopped <-chan struct{}) {
	if r.keeper == nil {
		return
	}
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	problem := ""
	for {
		select {
		case <-stopped:
			r.save(true, &problem)
			return
		case <-tick.C:
			r.save(false, &problem)
		}
	}
}

// save keeps what is known now, and logs what is wrong with that once.
func (r *Room) save(clean bool, problem *string) {
	if r.view.Load() == nil {
		return
	}
	text := ""
	if err := r.keeper.Save(Kept{Gate: r.gate, Clean: clean, Image: r.image()}); err != nil {
		text = err.Error()
	}
	if text != "" && text != *problem {
		r.log.Error("state cannot be kept", zap.String("problem", text))
	}
	*problem = text
}
