package e2e

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"foyer/internal/services"
)

// reloadFor is how long two replicas are reloaded every second; make reload-soak takes a minute.
var reloadFor = flag.Duration("reload-for", 4*time.Second, "how long TestReload_EverySecondOnTwoReplicas… goes on")

// TestReload_EverySecondOnTwoReplicasLosesNothing is C4 as it is in a cluster: the line is in Redis, and every replica
// takes over every change, a moment apart.
func TestReload_EverySecondOnTwoReplicasLosesNothing(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer upstream.Close()
	redis := services.PrivateRedis(t).URL()
	shared := func(capacity int, keys, more string) string {
		return movable(upstream.URL, capacity, keys, more) + "store: {redis: \"" + redis + "\", state_file: \"\"}\n"
	}
	first := serve(t, shared(3, keyOne, ""))
	second := serve(t, shared(3, keyOne, ""))
	inside, line := gather(t, first, 3, 4), gather(t, second, 0, 4)
	reloads := int(*reloadFor / time.Second)
	taken := func(s *server) int { return strings.Count(s.log.String(), "configuration reloaded") }
	for i := range reloads {
		keys, more := keyOne+", "+keyTwo, ""
		if i%4 >= 2 {
			keys = keyTwo + ", " + keyOne
		}
		if i%2 == 0 {
			more = another(upstream.URL)
		}
		for _, s := range []*server{first, second} {
			before := taken(s)
			s.rewrite(t, shared(2+i%2, keys, more))
			s.hangup(t)
			<-time.After(500 * time.Millisecond)
			eventually(t, 20*time.Second, "a reload", func() bool { return taken(s) > before }) // slow ones take two changes at once
		}
	}
	for _, s := range []*server{first, second} {
		s.wantReload(t, 1)
		if taken(s) < reloads || strings.Contains(s.log.String(), "configuration refused") {
			t.Errorf("%d of %d configurations were taken over", taken(s), reloads)
		}
	}
	for _, c := range []*crowd{inside, line} {
		c.stop()
		c.wantPlaces(t)
	}
	t.Logf("%d reloads of each of two replicas, %d requests", reloads, inside.asked.Load()+line.asked.Load())
}
