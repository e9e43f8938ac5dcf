package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"foyer/config"
)

// readyWithin is how long a reload waits for the room of a new gate to hear from its store. Visitors are sent to it after
// that in any case, and told that the store does not answer.
const readyWithin = 3 * time.Second

// reload puts a configuration in force that has been checked. What may still fail comes first, and after it nothing is
// left half done: on an error the old one holds, but for events that may have been changed already.
func (a *app) reload(ctx context.Context, running, next *config.Config) error {
	f := a.front
	keys, err := f.keys.read(next.Tokens, a.logger)
	if err != nil {
		return err
	}
	certificate, err := certificate(next.Server.TLS)
	if err != nil {
		return err
	}
	rooms := f.rooms.plan(next, f.stores.Line, f.newRoom)
	settings, err := f.edgeSettings(next, rooms, keys)
	if err != nil {
		return err
	}
	if err := settings.Check(); err != nil {
		return fmt.Errorf("build the edge: %w", err)
	}
	shelves, err := newShelves(rooms)
	if err != nil {
		return err
	}
	if err := a.changeEvents(ctx, running, next); err != nil {
		return err
	}
	if err := f.ring.Replace(keys...); err != nil {
		return err
	}
	if a.shop != nil {
		key, old := buyerKeys(keys)
		a.shop.Recognise(key, old, next.Server.TrustedProxies)
	}
	f.rooms.start(rooms)
	a.awaitNew(ctx, rooms)
	f.rooms.take(next, rooms)
	f.shelves.Store(shelves)
	if certificate != nil {
		f.certificate.Replace(certificate)
	}
	err = f.edge.Swap(settings) // it has been checked
	f.admin.store(f.adminHandler(next))
	return err
}

// changeEvents puts on sale what is new or another than before. An event that the file does not name any more stays in
// the ledger, with its orders.
func (a *app) changeEvents(ctx context.Context, running, next *config.Config) error {
	if a.shop == nil {
		return nil
	}
	before := map[string]config.Event{}
	for _, event := range running.Origin.Events {
		before[event.ID] = event
	}
	for _, event := range next.Origin.Events {
		if before[event.ID] == event {
			continue
		}
		if _, err := a.stores.Ledger().PutEvent(ctx, originEvent(event)); err != nil {
			return fmt.Errorf("put event %s on sale: %w", event.ID, err)
		}
	}
	return nil
}

// awaitNew waits until new rooms have heard from their store.
func (a *app) awaitNew(ctx context.Context, rooms []room) {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	if err := waitReady(ctx, rooms); errors.Is(err, context.DeadlineExceeded) {
		a.logger.Warn("gate in force before its store answers", zap.Error(err))
	}
}
