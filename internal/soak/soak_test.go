package soak

import (
	"context"
	"flag"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"foyer/internal/services"
	"foyer/loadtest"
)

var (
	span   = flag.Duration("span", 30*time.Second, "how long things break")
	guests = flag.Int("guests", 400, "how many visitors come")
	// mostIdle is promised with 0.02 on a machine that does nothing else; among all other tests processes wait for the CPU.
	mostIdle = flag.Float64("most-idle", 0.05, "the part of the slots' time that may be idle while somebody live waits, outside announced pauses")
)

// What the gate promises its visitors.
const (
	capacity = 50
	idle     = 3 * time.Second
)

// configuration of a replica: the addresses, Redis, the upstream.
const configuration = `
server: {listen: "%%s", admin: "%%s", log: {level: warn}}
store: {redis: "%s", state_file: foyer.state}
tokens: {leeway: 250ms, keys: [{id: one, secret: "0123456789abcdef0123456789abcdef"}]}
gates:
  - name: shop
    upstream: %s
    capacity: %d
    session: {idle: %s, max: 5m, claim: 4s}
    queue: {poll: {min: 400ms, max: 3s}, keep: 1h}
`

func TestSoak_ThePromisesHoldWhateverBreaks(t *testing.T) {
	storefront := loadtest.NewStorefront(idle)
	upstream := httptest.NewServer(storefront)
	defer upstream.Close()
	h := &house{redis: services.PrivateRedis(t)}
	h.link = cuttable(t, h.redis.URL())
	load := loadtest.Load{Guests: *guests, Party: loadtest.Party{
		Site:  loadtest.Site{Gate: "shop", Entry: "/sale"},
		Judge: loadtest.NewJudge(), Meter: storefront.Meter,
	}, Slots: &loadtest.Slots{Gate: "shop"}}
	load.Rate = float64(load.Guests) / (span.Seconds() * 0.8)
	load.Mix = loadtest.Mix{
		Leavers: 0.3, Sleepers: 0.05, Copiers: 0.05, Sleep: 4 * time.Second, Patience: -1, Pages: 3,
		Stay: time.Duration(span.Seconds() / float64(load.Guests) * 45 * float64(time.Second)),
	}
	ctx, cancel := context.WithTimeout(t.Context(), *span+90*time.Second)
	defer cancel()
	for i := range 3 {
		redis := h.redis.URL()
		if i == 2 {
			redis = "redis://" + h.link.Listen + "/0"
		}
		r := newReplica(t, fmt.Sprintf(configuration, redis, upstream.URL, capacity, idle))
		h.replicas = append(h.replicas, r)
		load.Party.Bases, load.Slots.Admins = append(load.Party.Bases, r.edge), append(load.Slots.Admins, r.admin)
		if err := r.awaitReady(ctx); err != nil {
			t.Fatal(err)
		}
	}
	transport := loadtest.NewTransport(loadtest.TransportSettings{Connections: 1000})
	defer transport.CloseIdleConnections()
	load.Party.Site.Transport = transport

	faults := h.schedule(*span)
	var breaking sync.WaitGroup
	began := time.Now()
	for _, f := range faults {
		breaking.Go(func() {
			wait(ctx, time.Until(began.Add(f.at)))
			f.began = time.Now()
			if err := f.run(ctx); err != nil {
				t.Errorf("%s: %v", f.name, err)
			}
			f.mended = time.Now()
		})
	}
	found := load.Run(ctx, capacity, nil)
	breaking.Wait()
	judge(t, found, faults, load.Party.Judge)
}

// judge reports what was found and fails the test where a promise was broken.
func judge(t *testing.T, found loadtest.Findings, faults []*fault, judge *loadtest.Judge) {
	t.Helper()
	recovery := loadtest.Table{
		Title: "From each fault to the next admission", Columns: []string{"fault", "at", "lasted", "next admission after it began", "after it was mended"},
	}
	for _, f := range faults {
		row := []string{f.name, f.began.Format("15:04:05.000"), f.mended.Sub(f.began).Round(time.Millisecond).String(), "none", "none"}
		for i, from := range []time.Time{f.began, f.mended} {
			if next := judge.NextAdmission(from); !next.IsZero() {
				row[3+i] = next.Sub(from).Round(time.Millisecond).String()
			}
		}
		recovery.Rows = append(recovery.Rows, row)
	}
	var text strings.Builder
	report := loadtest.Report{Title: found.Summary(), Tables: append(found.Tables(), recovery)}
	_ = report.Text(&text) // a builder takes everything
	t.Log(text.String())
	if broken := found.Broken(); len(broken) > 0 {
		t.Errorf("broken promises: %v (%s)", broken, found.Failure)
		t.Logf("lost places: %v", found.Lost)
	}
	if n := found.Ends[loadtest.Cut] + found.Ends[loadtest.Refused]; n > 0 {
		t.Errorf("%d visitors never got in", n)
	}
	if share := found.Slots.IdleShare(); share > *mostIdle {
		t.Errorf("slots were idle for %.2f %% of their time while somebody live waited", 100*share)
	}
	if found.Peak < capacity/2 || found.Slots.Most < capacity {
		t.Errorf("%d were inside at once and %d slots taken: nothing was tried", found.Peak, found.Slots.Most)
	}
}
