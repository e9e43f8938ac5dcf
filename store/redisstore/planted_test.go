package redisstore

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"foyer/internal/services"
	"foyer/store/storetest"
)

// mostSeeds is how many rows of steps may be walked until a planted fault is found.
const mostSeeds = 2000

// planted are faults that have been seen in systems of this kind, each as a change to one of the scripts.
var planted = map[string]struct {
	script      **redis.Script
	name        string
	right, then string
}{
	"only claimed leases count toward K": {&syncScript, "sync",
		`local free = math.max(0, m.capacity - redis.call('HLEN', K.slots))`,
		`local leases = 0
  for _, s in ipairs(redis.call('HVALS', K.slots)) do
    if string.sub(s, 1, 1) ~= '1' then leases = leases + 1 end
  end
  local free = math.max(0, m.capacity - leases)`},
	"renewing brings a lease back that has ended": {&renewScript, "renew",
		`if not s or s.kind ~= LEASE then return slot_reply(nil) end`,
		`if not s and t > 0 and t <= m.tail then
  s = {kind = LEASE, confirmed = true, start = now, expires = now}
  hold(t, s)
end
if not s or s.kind ~= LEASE then return slot_reply(nil) end`},
	"a restore forgets who has ended": {&restoreScript, "restore",
		`take('ended', ended_base, ARGV[14])`, ``},
}

// TestModel_FindsPlantedFaults proves that the walks can fail: with one of the faults in the scripts, the stores
// disagree, or a promise is broken, within the seeds that make model walks.
func TestModel_FindsPlantedFaults(t *testing.T) {
	for fault, plant := range planted {
		t.Run(strings.ReplaceAll(fault, " ", "_"), func(t *testing.T) {
			right := *plant.script
			if strings.Count(whole(plant.name), plant.right) != 1 {
				t.Fatalf("%s no longer says %q once", plant.name, plant.right)
			}
			*plant.script = redis.NewScript(strings.Replace(whole(plant.name), plant.right, plant.then, 1))
			defer func() { *plant.script = right }()
			stores := threeStores(t, services.PrivateRedis(t), 0)
			for seed := range uint64(mostSeeds) {
				if broken := storetest.Walk(t, stores, seed, 300); broken != "" {
					found, _, _ := strings.Cut(broken, "\n")
					t.Logf("found by %s", found)
					return
				}
			}
			t.Errorf("%d seeds have not found it", mostSeeds)
		})
	}
}
