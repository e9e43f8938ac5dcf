package redisstore

import (
	"testing"

	"foyer/store/storetest"
)

func TestStore_PlaysTheScenarios(t *testing.T) {
	storetest.Scenarios(t, "../../admission/testdata", open)
}
