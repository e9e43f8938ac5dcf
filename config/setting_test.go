package config

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestSettings_TagsCanBeRead checks what the compiler cannot: that bounds parse, that defaults obey them, and that each
// key has a name.
func TestSettings_TagsCanBeRead(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Settings() {
		if seen[s.Path] || strings.HasSuffix(s.Path, ".") || strings.Contains(s.Path, "..") {
			t.Errorf("%q is no key of its own", s.Path)
		}
		seen[s.Path] = true
		for _, text := range []string{s.Min, s.Max, s.Default} {
			if text == "" {
				continue
			}
			var wrong *mismatch
			switch s.Kind {
			case KindDuration:
				wrong = assignDuration(scalar{text: text}, new(time.Duration))
			case KindSize:
				wrong = assignSize(scalar{text: text}, new(Size))
			case KindNumber:
				wrong = assignNumber(scalar{text: text, form: number}, reflect.ValueOf(new(int)).Elem(), "")
			}
			if wrong != nil {
				t.Errorf("%s: %q cannot be read: %s", s.Path, text, wrong.message)
			}
		}
		if len(s.OneOf) > 0 && notOneOf(s.Default, strings.Join(s.OneOf, "|")) != nil {
			t.Errorf("%s: its default %q is none of %v", s.Path, s.Default, s.OneOf)
		}
	}
	if len(seen) < 60 {
		t.Errorf("only %d keys", len(seen))
	}
}

func TestWrittenDuration_IsShortAndExact(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 500 * time.Millisecond: "500ms", 75 * time.Second: "75s", 2 * time.Minute: "2m", 90 * time.Minute: "90m",
		2 * time.Hour: "2h", 3601 * time.Second: "1h0m1s", 1500 * time.Millisecond: "1.5s",
	} {
		got := writtenDuration(d)
		if back, err := time.ParseDuration(got); got != want || err != nil || back != d {
			t.Errorf("%v is written %q, want %q", d, got, want)
		}
	}
}

func TestSize_IsWrittenInTheLargestUnit(t *testing.T) {
	for size, want := range map[Size]string{0: "0B", 1: "1B", 1536: "1536B", 32 * KiB: "32KiB", 10 * MiB: "10MiB", 2048 * MiB: "2GiB"} {
		if got := size.String(); got != want {
			t.Errorf("%d is written %q, want %q", int64(size), got, want)
		}
	}
}
