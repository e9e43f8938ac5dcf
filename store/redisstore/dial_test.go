package redisstore

import (
	"strings"
	"testing"
)

func TestDial_TellsNobodyThePasswordOfAURLThatIsNone(t *testing.T) {
	for _, address := range []string{
		"redis://user:secret%zz@127.0.0.1/0", "redis://user:secret@127.0.0.1:port/0", "http://user:secret@127.0.0.1/0",
		"redis://user:secret@127.0.0.1/zero", "redis://user:secret@127.0.0.1/0?protocol=x",
	} {
		if _, err := Dial(address); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
