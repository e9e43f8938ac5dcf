package storetest

import (
	"slices"
	"strings"

	"foyer/admission"
)

// commands are those of the scenarios, by name; each returns its answer.
var commands map[string]func(*scene, []string) string

func init() { // tick runs others
	commands = map[string]func(*scene, []string) string{
		"gate": (*scene).begin, "join": (*scene).join, "poll": (*scene).poll,
		"confirm": func(s *scene, args []string) string {
			report := s.report(args)
			report.Confirmed = append(report.Confirmed, s.tickets(args)...)
			return ""
		},
		"busy": func(s *scene, args []string) string {
			report := s.report(args)
			report.Busy = append(report.Busy, s.tickets(args)...)
			return ""
		},
		"sync":  func(s *scene, args []string) string { return s.sync(s.report(args)) },
		"claim": func(s *scene, args []string) string { return s.text.slot(s.gate.claim(s.tickets(args)[0])) },
		"renew": func(s *scene, args []string) string {
			until := s.gate.now().Add(s.duration(args[1]))
			return s.text.slot(s.gate.renew(s.tickets(args[:1])[0], until))
		},
		"release": func(s *scene, args []string) string {
			for _, t := range s.tickets(args) {
				s.gate.release(t)
			}
			return ""
		},
		"advance": func(s *scene, args []string) string {
			s.gate.Advance(s.duration(args[0]))
			return ""
		},
		"tick": (*scene).tick, "set": (*scene).set,
		"reset": func(s *scene, args []string) string {
			standing, err := s.gate.Store.Reset(s.gate.Context(), admission.Seen{}, args[0])
			return s.text.standing(must(s.gate, standing, err))
		},
		"slots":   (*scene).slots,
		"waiting": func(s *scene, _ []string) string { return spans(members(s.last.Waiting)) },
	}
}

func (s *scene) begin(args []string) string {
	standing := s.gate.begun(func(r *admission.Rules) {
		for _, word := range args {
			name, value, _ := strings.Cut(word, "=")
			switch name {
			case "capacity":
				r.Capacity = s.number(value)
			case "rate":
				r.AdmitRate = s.number(value)
			case "mode":
				r.Mode = admission.Mode(value)
			case "claim":
				r.Claim = s.duration(value)
			case "idle":
				r.Idle = s.duration(value)
			case "max":
				r.Max = s.duration(value)
			case "hold":
				r.Hold = s.duration(value)
			case "keep":
				r.Keep = s.duration(value)
			case "most":
				r.QueueMax = s.number(value)
			case "returns":
				r.Returns = s.number(value)
			default:
				s.gate.Fatalf("no such rule: %s", word)
			}
		}
	})
	s.text.origin = standing.Now
	return ""
}

func (s *scene) join(args []string) string {
	s.gate.joins++
	join := admission.Join{ID: "join-" + string(rune('a'+s.gate.joins)), N: 1}
	for _, word := range args {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "n":
			join.N = s.number(value)
		case "id":
			join.ID = value
		case "far":
			join.Family = admission.Far
		default:
			s.gate.Fatalf("join has no %s", word)
		}
	}
	return s.text.joined(s.gate.joinAs(join))
}

func (s *scene) poll(args []string) string {
	report := s.report(args)
	polled := &report.Near
	if slices.Contains(args, "far") {
		polled = &report.Far
	}
	for _, t := range s.tickets(args) {
		polled.Set(t)
	}
	return ""
}

// tick lets time pass with a sync every 100 ms in which r1 tells the same each time.
func (s *scene) tick(args []string) string {
	report := *s.report(nil)
	var lines []string
	for range s.duration(args[0]) / admission.Tick {
		s.gate.Advance(admission.Tick)
		if answer := s.sync(&report); answer != "" {
			lines = append(lines, answer)
		}
	}
	return strings.Join(lines, "\n")
}

func (s *scene) set(args []string) string {
	var change admission.Change
	for _, word := range args {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "capacity":
			change.Capacity = new(s.number(value))
		case "rate":
			change.AdmitRate = new(s.number(value))
		case "mode":
			change.Mode = new(admission.Mode(value))
		default:
			s.gate.Fatalf("no such setting: %s", word)
		}
	}
	_, err := s.gate.Store.Change(s.gate.Context(), admission.Seen{}, change)
	must(s.gate, 0, err)
	return ""
}

func (s *scene) slots([]string) string {
	lines := []string{}
	for _, slot := range s.last.Slots {
		lines = append(lines, spans([]admission.Ticket{slot.Ticket})+" "+s.text.slot(slot))
	}
	if len(lines) == 0 {
		return "none"
	}
	return strings.Join(lines, "\n")
}
