package statefile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"foyer/admission"
)

func open(t *testing.T, path string) *File {
	t.Helper()
	file, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

// images is one gate with a bit of everything.
func images() map[string]admission.Image {
	ended := admission.Bitmap{Base: 64}
	ended.Set(70)
	now := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	return map[string]admission.Image{"final": {
		Seen: admission.Seen{Run: "r", Seq: 9}, AsOf: now, Round: "one", Tail: 99, Base: 64, Ended: ended,
		Rules:  admission.Rules{Capacity: 3, Mode: admission.ModeOn, Idle: time.Minute},
		Slots:  []admission.Slot{{Ticket: 65, Kind: admission.Lease, Start: now, Expires: now.Add(time.Minute)}},
		Missed: map[admission.Ticket]int{66: 2},
	}}
}

func TestOpen_ReturnsWhatWasSaved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "foyer.state")
	file := open(t, path)
	if file.Image("final") != nil || !file.Clean() {
		t.Fatal("a new file is not empty")
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := file.Run(stopped, images, nil); err != nil {
		t.Fatal(err)
	}
	file.Close()
	file = open(t, path)
	if got := file.Image("final"); got == nil || !reflect.DeepEqual(*got, images()["final"]) || !file.Clean() {
		t.Fatalf("image %+v, clean %v", got, file.Clean())
	}
	file.Close() // as a crash would
	if file = open(t, path); file.Clean() || file.Image("final") == nil {
		t.Fatalf("after a crash: clean %v, image %v", file.Clean(), file.Image("final"))
	}
}

func TestOpen_RefusesASecondProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "foyer.state")
	file := open(t, path)
	if _, err := Open(path); !errors.Is(err, ErrInUse) {
		t.Fatalf("a second Open: %v, want ErrInUse", err)
	}
	file.Close()
	open(t, path)
}

func TestOpen_RefusesWhatItCannotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "foyer.state")
	for _, text := range []string{"", "{", `{"version":2}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); !errors.Is(err, ErrBroken) {
			t.Fatalf("for %q the error is %v, want ErrBroken", text, err)
		}
		if after, _ := os.ReadFile(path); string(after) != text {
			t.Fatalf("%q was overwritten with %q", text, after)
		}
	}
}

func TestRun_GoesOnAfterASaveThatFails(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	file := open(t, filepath.Join(folder, "foyer.state"))
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	failures := 0
	err := file.Run(ctx, images, func(error) {
		if failures++; failures == 1 {
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Error(err)
			}
			cancel()
		}
	})
	if err != nil || failures == 0 {
		t.Fatalf("Run: %v after %d failures", err, failures)
	}
}
