package loadtest

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// liveBar is the length of a full bar, in characters.
const liveBar = 40

// plainEvery is how often a line is printed where there is no terminal.
const plainEvery = time.Second

// Gauge is a number that moves. Of is what fills its bar; zero: a number without a bar.
type Gauge struct {
	Label     string
	Value, Of int
}

// Live shows gauges while work goes on: as bars that are drawn over themselves on a terminal, and as a plain line a
// second elsewhere.
type Live struct {
	W        io.Writer
	Terminal bool

	drawn int
	last  time.Time
}

// Show shows the gauges as they stand now.
func (l *Live) Show(now time.Time, gauges []Gauge) {
	if !l.Terminal {
		if now.Sub(l.last) >= plainEvery {
			l.last = now
			fmt.Fprintln(l.W, plain(gauges))
		}
		return
	}
	var text strings.Builder
	if l.drawn > 0 {
		fmt.Fprintf(&text, "\x1b[%dA", l.drawn)
	}
	for _, gauge := range gauges {
		fmt.Fprintf(&text, "\x1b[2K  %-8s %s\n", gauge.Label, gauge.bar())
	}
	l.drawn = len(gauges)
	_, _ = io.WriteString(l.W, text.String())
}

// bar draws one gauge.
func (g Gauge) bar() string {
	if g.Of <= 0 {
		return fmt.Sprint(g.Value)
	}
	full := min(liveBar, max(0, g.Value*liveBar/g.Of))
	return fmt.Sprintf("%s%s %d of %d", strings.Repeat("█", full), strings.Repeat("░", liveBar-full), g.Value, g.Of)
}

// plain puts all gauges in one line.
func plain(gauges []Gauge) string {
	parts := make([]string, len(gauges))
	for i, gauge := range gauges {
		parts[i] = fmt.Sprintf("%s %d", gauge.Label, gauge.Value)
		if gauge.Of > 0 {
			parts[i] += fmt.Sprintf("/%d", gauge.Of)
		}
	}
	return strings.Join(parts, "  ")
}
