package statefile

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"foyer/admission"
)

// kept is a line with something in every field.
func kept() admission.Kept {
	now := time.UnixMilli(1_796_000_000_000).UTC()
	image := admission.Image{
		Seen: admission.Seen{Run: "run", Seq: 12}, Replica: "replica", AsOf: now, Round: "round",
		Rules: admission.Rules{Capacity: 5, Idle: time.Minute, OpensAt: now}, Tail: 200, Spare: 7, Base: 64,
		Slots:  []admission.Slot{{Ticket: 70, Kind: admission.Lease, Confirmed: true, Start: now, Expires: now.Add(time.Minute)}},
		Missed: map[admission.Ticket]int{80: 2}, Admitted: 9,
	}
	image.Waiting.Base = 64
	image.Waiting.Set(100)
	image.Ended.Base = 64
	image.Ended.Set(65)
	return admission.Kept{Gate: "final", Clean: true, Image: image}
}

func open(t *testing.T, path string) *File {
	t.Helper()
	file, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

func TestLoad_AnswersWhatWasSavedLast(t *testing.T) {
	file := open(t, filepath.Join(t.TempDir(), "foyer.state"))
	if _, ok, err := file.Load(); ok || err != nil {
		t.Fatalf("an empty folder holds %v, %v", ok, err)
	}
	first := kept()
	first.Image.Tail = 1
	for _, one := range []admission.Kept{first, kept()} {
		if err := file.Save(one); err != nil {
			t.Fatal(err)
		}
	}
	got, ok, err := file.Load()
	if !ok || err != nil || !reflect.DeepEqual(got, kept()) {
		t.Errorf("got %+v, %v, %v", got, ok, err)
	}
}

func TestOpen_RefusesASecondProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "foyer.state")
	first := open(t, path)
	if _, err := Open(path); !errors.Is(err, ErrLocked) {
		t.Fatalf("err = %v, want ErrLocked", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, path)
}

func TestLoad_FailsOnWhatIsNoState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "foyer.state")
	file := open(t, path)
	for text, wantErr := range map[string]bool{"": true, "{": true, `{"Version":99}`: false} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := file.Load(); ok || (err != nil) != wantErr {
			t.Errorf("%q: %v, %v", text, ok, err)
		}
	}
}
