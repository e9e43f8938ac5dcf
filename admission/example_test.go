package admission_test

import (
	"context"
	"fmt"
	"time"

	"foyer/admission"
	"foyer/store/memstore"
)

// A gate for one buyer at a time, with its line in this process.
func ExampleRoom() {
	keys, err := admission.NewKeyring(admission.Key{ID: "2026-11", Secret: []byte("a secret of thirty-two bytes ....")})
	if err != nil {
		fmt.Println(err)
		return
	}
	room := admission.NewRoom(admission.RoomSettings{
		Gate: "final", Keys: keys, Store: memstore.New(memstore.Settings{Gate: "final"}), Inflight: 32,
		Rules: admission.Rules{
			Capacity: 1, Mode: admission.ModeOn, QueueMax: 1000, Keep: time.Hour, Returns: 2,
			Idle: 2 * time.Minute, Max: 15 * time.Minute, Claim: 20 * time.Second, Leeway: 5 * time.Second,
			PollMin: 2 * time.Second, PollMax: 30 * time.Second,
		},
	})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { _ = room.Run(ctx) }()
	<-room.Ready()

	first := room.Visit(ctx, nil, true)
	second := room.Visit(ctx, nil, true)
	fmt.Println(first.Status.State, first.Ticket)
	fmt.Println(second.Status.State, second.Ticket, "at", second.Status.Position)
	fmt.Println(room.Status(ctx, []string{second.Token}).Status.State)
	// Output:
	// admitted 1
	// waiting 2 at 1
	// waiting
}
