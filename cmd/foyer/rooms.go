package main

import (
	"time"

	"foyer/admission"
	"foyer/config"
)

// newRoom makes the room of a gate on its line.
func (f *front) newRoom(cfg *config.Config, gate config.Gate, line line) *admission.Room {
	return admission.NewRoom(admission.RoomSettings{
		Gate:         gate.Name,
		Store:        line.store,
		Keeper:       line.keeper,
		Keys:         f.ring,
		Rules:        rules(gate, cfg.Tokens.Leeway, holdTTL(cfg, gate)),
		Inflight:     gate.Session.Inflight,
		OnStoreError: admission.OnStoreError(gate.OnStoreError),
		Observer:     observer(gate.Name, f.metrics, f.observed),
		Logger:       f.logger,
	})
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
