package main

import (
	"time"

	"go.uber.org/zap"

	"foyer/admission"
	"foyer/config"
	"foyer/proxy"
	"foyer/store"
)

// room is a gate of the configuration with the room behind it.
type room struct {
	config.Gate
	*admission.Room
}

// newRooms makes a room for every gate, in the order of the file.
func newRooms(cfg *config.Config, stores *store.Stores, keys *admission.Keyring, gates *proxy.Metrics, observed *storeMetrics, logger *zap.Logger) []room {
	rooms := make([]room, len(cfg.Gates))
	for i, gate := range cfg.Gates {
		line, keeper := stores.Line(gate.Name)
		rooms[i] = room{Gate: gate, Room: admission.NewRoom(admission.RoomSettings{
			Gate:         gate.Name,
			Store:        line,
			Keys:         keys,
			Rules:        rules(gate, cfg.Tokens.Leeway, holdTTL(cfg, gate)),
			Inflight:     gate.Session.Inflight,
			OnStoreError: admission.OnStoreError(gate.OnStoreError),
			Observer:     observer(gate.Name, gates, observed),
			Keeper:       keeper,
			Logger:       logger,
		})}
	}
	return rooms
}

// rules are a gate's settings in the words of its store.
func rules(gate config.Gate, leeway, hold time.Duration) admission.Rules {
	return admission.Rules{
		Capacity: gate.Capacity, AdmitRate: gate.AdmitRate, Mode: admission.Mode(gate.Mode),
		OpensAt: gate.OpensAt, ClosesAt: gate.ClosesAt,
		Idle: gate.Session.Idle, Max: gate.Session.Max, Claim: gate.Session.Claim, Hold: hold,
		QueueMax: gate.Queue.Max, Keep: gate.Queue.Keep, Returns: gate.Queue.Returns,
		PollMin: gate.Queue.Poll.Min, PollMax: gate.Queue.Poll.Max,
		Leeway: leeway,
	}
}

// holdTTL is the life of a hold where the embedded shop is behind the gate; else zero.
func holdTTL(cfg *config.Config, gate config.Gate) time.Duration {
	if gate.Upstream != config.UpstreamOrigin || cfg.Origin == nil {
		return 0
	}
	return cfg.Origin.HoldTTL
}
