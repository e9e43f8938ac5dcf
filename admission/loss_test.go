package admission_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"foyer/internal/services"
)

// loss is a way in which Redis loses the line, or some of it.
type loss struct {
	arguments []string
	keep      func(c *throng) // what Redis will be set back to
	strike    func(c *throng)
}

// restart kills the server and starts it again, on what is on its disk.
func restart(c *throng) {
	c.ok(c.server.Kill())
	c.ok(c.server.Restart())
}

// losses are those of A8 and A8b.
func losses() map[string]loss {
	var written int64 // of the append-only file, when it was last known to be on the disk
	return map[string]loss{
		"flushed":          {strike: func(c *throng) { c.command(c.server, "FLUSHALL") }},
		"restarted_empty":  {strike: restart},
		"set_back_to_dump": {keep: func(c *throng) { c.command(c.server, "SAVE") }, strike: restart},
		"lost_its_last_aof": {
			arguments: []string{"--appendonly", "yes", "--appendfsync", "always"},
			keep: func(c *throng) {
				info, err := os.Stat(appendOnly(c))
				c.ok(err)
				written = info.Size()
			},
			strike: func(c *throng) {
				file := appendOnly(c)
				c.ok(c.server.Kill())
				c.ok(os.Truncate(file, written))
				c.ok(c.server.Restart())
			},
		},
		"replica_restarted_while_empty": {strike: func(c *throng) {
			c.cancels[1]()
			c.command(c.server, "FLUSHALL")
			c.rooms, c.cancels, c.links = c.rooms[:1], c.cancels[:1], c.links[:1]
			c.replica()
		}},
	}
}

// appendOnly is the file that the server appends to.
func appendOnly(c *throng) string {
	dir, err := services.RedisClient(c.t, c.server.URL(), nil).ConfigGet(context.Background(), "dir").Result()
	c.ok(err)
	files, err := filepath.Glob(filepath.Join(dir["dir"], "appendonlydir", "*.incr.aof"))
	c.ok(err)
	if len(files) != 1 {
		c.t.Fatalf("append-only files %v", files)
	}
	return files[0]
}

// TestRedis_LosingTheLineLosesNobody: K inside and 1,000 waiting on two replicas. What Redis is set back to, if
// anything, knows only half of those who wait, and somebody inside who has left since.
func TestRedis_LosingTheLineLosesNobody(t *testing.T) {
	for name, loss := range losses() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const capacity, waiting = 10, 1000
			c := newThrong(t, patientRules(capacity, 6*time.Second), 2, loss.arguments...)
			c.in = c.join(capacity)
			c.out = c.join(waiting / 2)
			c.pass(time.Second)
			if loss.keep != nil {
				loss.keep(c)
			}
			more := c.join(waiting - waiting/2)
			c.out = append(c.out, more...)
			leaver := c.in[0]
			c.in = c.in[1:]
			leaver.leave()
			first := c.out[0]
			c.drive(func() bool { return len(c.in) == capacity })
			if c.in[capacity-1] != first {
				t.Fatalf("ticket %d is in before ticket %d", c.in[capacity-1].ticket, first.ticket)
			}
			c.pass(time.Second) // whoever joined, left or got in has been heard of on every replica
			loss.strike(c)
			c.pass(time.Second)
			c.drive(func() bool { return c.waiting() == len(c.out) }) // whose lease was not known has asked again
			for i, v := range c.out {
				if got := v.poll(); got.Status.Position != i+1 || got.Ticket != v.ticket {
					t.Fatalf("ticket %d, number %d of those who wait: %+v", v.ticket, i+1, got.Status)
				}
			}
			for _, v := range c.in {
				if !c.lets(v) {
					t.Errorf("ticket %d was inside, has gone on asking, and is not let in", v.ticket)
				}
			}
			c.drive(c.gives)
			if c.lets(leaver) {
				t.Errorf("ticket %d left before the loss, and is let in", leaver.ticket)
			}
			late := c.join(1)[0]
			if last := c.out[len(c.out)-1]; late.ticket <= last.ticket || late.poll().Status.Position <= len(c.out) {
				t.Errorf("a newcomer gets ticket %d, the last before has %d", late.ticket, last.ticket)
			}
			c.moves()
		})
	}
}

// TestRedis_OutOfReachKeepsKPlacesAndOrder: Redis freezes for twice session.idle, or one of two replicas is cut off for
// three times as long.
func TestRedis_OutOfReachKeepsKPlacesAndOrder(t *testing.T) {
	const idle = 2 * time.Second
	for name, break_ := range map[string]func(c *throng){
		"frozen_for_twice_idle": func(c *throng) {
			c.ok(c.server.Freeze())
			c.pass(2 * idle)
			c.ok(c.server.Thaw())
		},
		"one_replica_cut_off_for_three_times_idle": func(c *throng) {
			for _, v := range c.in[:2] { // their leases end, and others get the slots at the other replica
				v.room, v.stays = c.rooms[1], true
			}
			c.links[1].down.Store(true)
			c.pass(3 * idle)
			c.drive(func() bool { return len(c.in) > 5 }) // half of the polls go to the replica that is cut off
			c.links[1].down.Store(false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newThrong(t, patientRules(5, idle), 2)
			c.in = c.join(5)
			c.out = c.join(100)
			c.pass(time.Second)
			break_(c)
			c.drive(c.gives)
			c.moves()
		})
	}
}

// TestRedis_ACleanFailoverCostsNoPause: the replica of Redis takes over when it has everything. A pause would be longer than
// the test has patience.
func TestRedis_ACleanFailoverCostsNoPause(t *testing.T) {
	t.Parallel()
	c := newThrong(t, patientRules(5, 2*time.Minute), 2, "--repl-diskless-sync-delay", "0")
	address := strings.Split(strings.TrimPrefix(c.server.URL(), "redis://"), "/")[0]
	second := services.PrivateRedis(t, "--replicaof", strings.ReplaceAll(address, ":", " "))
	until(t, func() bool { return strings.Contains(c.replication(second), "master_link_status:up") })
	c.in = c.join(5)
	c.out = c.join(100)
	c.pass(time.Second)
	tail := c.rooms[0].Info().Tail
	c.command(c.server, "FAILOVER")
	until(t, func() bool { return strings.Contains(c.replication(second), "role:master") })
	for _, link := range c.links {
		link.exchange(c.lineOn(second))
	}
	c.pass(time.Second)
	c.drive(c.gives)
	for i, room := range c.rooms {
		if info := room.Info(); info.Tail != tail || info.Active != 5 {
			t.Errorf("replica %d: tail %d, %d inside; want %d and 5", i, info.Tail, info.Active, tail)
		}
	}
	if late := c.join(1)[0]; late.ticket != tail+1 {
		t.Errorf("a newcomer gets ticket %d after %d: nothing was lost", late.ticket, tail)
	}
	c.moves()
}

// TestRedis_AFreshReplicaGivesNoSlotThatAnOldPassUses: all replicas have gone, and with them what they knew, Redis is
// empty, and those who were inside still have their passes.
func TestRedis_AFreshReplicaGivesNoSlotThatAnOldPassUses(t *testing.T) {
	for _, first := range []string{"newcomers", "those_inside"} {
		t.Run(first+"_ask_first", func(t *testing.T) {
			t.Parallel()
			c := newThrong(t, patientRules(3, 6*time.Second), 1)
			old := c.join(3)
			for _, v := range old {
				v.visit()
			}
			c.close()
			c.rooms, c.cancels, c.links = nil, nil, nil
			c.command(c.server, "FLUSHALL")
			c.replica()
			come := func(n int) {
				for range n {
					c.in = append(c.in, &guest{visitor: visitor{g: c.gate, room: c.rooms[0]}})
				}
			}
			if first == "newcomers" {
				come(5)
				c.in = append(c.in, old...)
			} else {
				c.in = append(c.in, old...)
				come(5)
			}
			for _, v := range c.in {
				v.room = c.rooms[0]
			}
			c.pass(2 * c.rules.PassLife())
			inside := 0
			for _, v := range c.in {
				if c.lets(v) {
					inside++
				}
			}
			if inside != 3 {
				t.Errorf("%d are inside when all old passes have run out, want 3", inside)
			}
		})
	}
}
