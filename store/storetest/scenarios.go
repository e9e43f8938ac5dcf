package storetest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"foyer/admission"
)

var update = flag.Bool("update", false, "rewrite the answers in the scenarios")

// Scenarios runs each text file of a folder: commands, and the answers that the store must give. A file is a row of
// paragraphs; each has one or more commands, a line "----", and the answers. With -update the answers are rewritten, to
// be reviewed as a diff. Lines that begin with # are comments.
//
//	gate capacity=2 claim=1s …   begins, with Rules changed
//	join n=3 far id=x            gives tickets
//	poll 4-6 far r2              is told to the store by r2's (else r1's) next sync
//	confirm 1 r2, busy 1 r2      likewise
//	sync r2                      says who has been offered a slot and who has ended
//	claim 4, renew 4 30s, release 4
//	advance 2s                   lets time pass; "tick 2s" with a sync of r1 each 100 ms
//	set capacity=5 mode=paused rate=60
//	reset two                    begins a round
//	slots, waiting               as of the last sync
func Scenarios(t *testing.T, folder string, open func(t *testing.T) Gate) {
	files, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios in %s (%v)", folder, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(content), open(t))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(content) {
				t.Errorf("%s: the store answers otherwise:\n%s", file, differing(string(content), got))
			}
		})
	}
}

// play runs a scenario and returns it with the answers that were given.
func play(t *testing.T, scenario string, open Gate) string {
	s := &scene{gate: &gate{T: t, Gate: open, since: map[string]uint64{}}, reports: map[string]*admission.Sync{}}
	var out strings.Builder
	answers, answering := "", false
	for line := range strings.Lines(scenario) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "----":
			fmt.Fprintf(&out, "----\n%s", answers)
			answers, answering = "", true
		case answering && line != "":
		default:
			answering = false
			out.WriteString(line + "\n")
			if line != "" && line[0] != '#' {
				answers += s.do(line)
			}
		}
	}
	return out.String()
}

// scene is a scenario as it runs.
type scene struct {
	gate    *gate
	text    text
	reports map[string]*admission.Sync // by replica: what its next Sync tells
	last    admission.Snapshot
}

// do runs one command and returns its answer, whole lines.
func (s *scene) do(line string) string {
	words := strings.Fields(line)
	name, args := words[0], words[1:]
	run, ok := commands[name]
	if !ok {
		s.gate.Fatalf("no such command: %s", line)
	}
	if answer := run(s, args); answer != "" {
		return answer + "\n"
	}
	return ""
}

// report is what a replica tells at its next Sync; the replica is the last argument where it begins with r.
func (s *scene) report(args []string) *admission.Sync {
	replica := "r1"
	if n := len(args); n > 0 && args[n-1][0] == 'r' {
		replica = args[n-1]
	}
	if s.reports[replica] == nil {
		s.reports[replica] = &admission.Sync{Replica: replica}
	}
	return s.reports[replica]
}

// sync is one tick of a replica; what it had to tell is told.
func (s *scene) sync(report *admission.Sync) string {
	before := s.last.Slots
	s.gate.replica = report.Replica
	s.last = s.gate.syncAs(*report)
	delete(s.reports, report.Replica)
	var lines []string
	for _, slot := range s.last.Slots {
		if slot.Kind == admission.Offer && !slices.Contains(before, slot) {
			lines = append(lines, fmt.Sprintf("%s: %d %s", s.text.time(s.last.Now), slot.Ticket, s.text.slot(slot)))
		}
	}
	if ended := members(s.last.Ended); len(ended) > 0 {
		lines = append(lines, fmt.Sprintf("%s: ended %s", s.text.time(s.last.Now), spans(ended)))
	}
	return strings.Join(lines, "\n")
}

func (s *scene) number(word string) int {
	n, err := strconv.Atoi(word)
	if err != nil {
		s.gate.Fatalf("%q is no number", word)
	}
	return n
}

func (s *scene) duration(word string) time.Duration {
	d, err := time.ParseDuration(word)
	if err != nil {
		s.gate.Fatalf("%q is no duration", word)
	}
	return d
}

// tickets are the words "4" and "7-9" up to the first other one.
func (s *scene) tickets(args []string) (tickets []admission.Ticket) {
	for _, word := range args {
		if word[0] < '0' || word[0] > '9' {
			break
		}
		first, last, ok := strings.Cut(word, "-")
		if !ok {
			last = first
		}
		tickets = append(tickets, run(admission.Ticket(s.number(first)), admission.Ticket(s.number(last)))...)
	}
	return tickets
}

// differing are the lines in which two texts differ, from the first on.
func differing(want, got string) string {
	wants, gots := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(wants), len(gots)) {
		if wants[i] != gots[i] {
			return fmt.Sprintf("line %d\n  want %s\n  got  %s", i+1, wants[i], gots[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(gots), len(wants))
}
