package loadtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Broken names the promises that the findings break; empty: none.
func (f Findings) Broken() (broken []string) {
	for what, n := range map[string]int{
		"more than K inside": f.OverK, "inversions": f.Inversions, "lost places": len(f.Lost), "visits that broke": f.Ends[Failed],
	} {
		if n > 0 {
			broken = append(broken, fmt.Sprintf("%s: %d", what, n))
		}
	}
	slices.Sort(broken)
	return broken
}

// Tables shows the findings to people.
func (f Findings) Tables() []Table {
	promises := Table{Title: "What was promised", Columns: []string{"counted", "found"}, Rows: [][]string{
		{"inside at once, by the upstream", f.peak()},
		{"of a capacity of", known(f.Capacity)},
		{"over K", fmt.Sprint(f.OverK)},
		{"inversions", fmt.Sprint(f.Inversions)},
		{"lost places", fmt.Sprint(len(f.Lost))},
		{"active, but told to wait again", fmt.Sprint(f.PutOut)},
		{"requests without an answer", fmt.Sprint(f.Retries)},
	}}
	visits := Table{Title: "The visits", Columns: []string{"end", "guests"}}
	for _, end := range slices.Sorted(maps.Keys(f.Ends)) {
		visits.Rows = append(visits.Rows, []string{string(end), fmt.Sprint(f.Ends[end])})
	}
	waits := Table{Title: "Time in line of those who got in", Columns: []string{"p50", "p95", "longest"},
		Rows: [][]string{{seconds(f.WaitP50), seconds(f.WaitP95), seconds(f.WaitMax)}}}
	tables := []Table{promises, visits, waits}
	if f.Slots != nil {
		tables = append(tables, f.Slots.table())
	}
	return tables
}

// table shows what the slots did.
func (t SlotTime) table() Table {
	whole := t.Leased + t.Offered + t.Leaving + t.Idle + t.Paused
	row := func(name string, d time.Duration) []string {
		share := 0.0
		if whole > 0 {
			share = 100 * float64(d) / float64(whole)
		}
		return []string{name, seconds(d), fmt.Sprintf("%.2f %%", share)}
	}
	return Table{
		Title:   "Slot time while somebody live waited",
		Note:    fmt.Sprintf("%d looks at %d slots; %d offers lapsed; idle outside pauses: %.2f %%", t.Sampled, t.Capacity, t.Lapsed, 100*t.IdleShare()),
		Columns: []string{"slots were", "slot time", "share"},
		Rows: [][]string{
			row("leased", t.Leased), row("offered", t.Offered), row("given back, free in two ticks", t.Leaving),
			row("idle", t.Idle), row("idle in an announced pause", t.Paused),
		},
	}
}

// Summary is the findings in one line.
func (f Findings) Summary() string {
	if broken := f.Broken(); len(broken) > 0 {
		return strings.Join(broken, "; ")
	}
	if f.Peak < 0 || f.Capacity == 0 {
		return fmt.Sprintf("%d guests: nobody passed over, no place lost; how many were inside was not counted", f.Guests)
	}
	return fmt.Sprintf("%d guests: nobody too many inside, nobody passed over, no place lost", f.Guests)
}

func (f Findings) peak() string {
	if f.Peak < 0 {
		return "not counted"
	}
	return fmt.Sprint(f.Peak)
}

func known(n int) string {
	if n == 0 {
		return "not known"
	}
	return fmt.Sprint(n)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
