package loadtest

import (
	"strings"
	"testing"
	"time"
)

func TestLive_DrawsOverItselfOnATerminal(t *testing.T) {
	var text strings.Builder
	live := Live{W: &text, Terminal: true}
	for i := range 2 {
		live.Show(time.Unix(int64(i), 0), []Gauge{{Label: "inside", Value: 5, Of: 10}, {Label: "waiting", Value: 7}})
	}
	half := strings.Repeat("█", 20) + strings.Repeat("░", 20) + " 5 of 10"
	frame := "\x1b[2K  inside   " + half + "\n\x1b[2K  waiting  7\n"
	if want := frame + "\x1b[2A" + frame; text.String() != want {
		t.Errorf("drew\n%q, want\n%q", text.String(), want)
	}
}

func TestLive_PrintsALineASecondElsewhere(t *testing.T) {
	var text strings.Builder
	live := Live{W: &text}
	for i := range 25 {
		live.Show(time.UnixMilli(int64(1000+i*100)), []Gauge{{Label: "inside", Value: i, Of: 10}, {Label: "waiting", Value: 7}})
	}
	if want := "inside 0/10  waiting 7\ninside 10/10  waiting 7\ninside 20/10  waiting 7\n"; text.String() != want {
		t.Errorf("printed\n%q, want\n%q", text.String(), want)
	}
}

func TestGauge_NeverDrawsBeyondItsBar(t *testing.T) {
	for _, value := range []int{-3, 0, 10, 99} {
		if got := (Gauge{Value: value, Of: 10}).bar(); strings.Count(got, "█")+strings.Count(got, "░") != liveBar {
			t.Errorf("a bar of %d of 10 is drawn as %q", value, got)
		}
	}
}
