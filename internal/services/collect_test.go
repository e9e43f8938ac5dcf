package services

import (
	"runtime"
	"testing"
	"time"
)

// Where the run shares servers of its own these are used, and the test holds all the same.
func TestShared_SurviveTheGarbageCollector(t *testing.T) {
	t.Setenv(PostgresVariable, "")
	t.Setenv(RedisVariable, "")
	Postgres(t)
	Redis(t)
	for range 5 {
		runtime.GC()
		<-time.After(20 * time.Millisecond) // finalizers run in a goroutine of their own
	}
	Postgres(t)
	Redis(t)
}
