package loadtest

import (
	"testing"
	"time"
)

func TestLatency_KeepsThreeDigits(t *testing.T) {
	l := NewLatency()
	for i := range 1000 {
		l.Record(time.Duration(i+1) * time.Millisecond)
	}
	l.Record(time.Hour) // beyond the range: counted as its edge
	if got := l.Quantile(50); got < 498*time.Millisecond || got > 502*time.Millisecond {
		t.Errorf("median %v, want 500ms", got)
	}
	if l.Count() != 1001 {
		t.Errorf("count %d, want 1001", l.Count())
	}
}
