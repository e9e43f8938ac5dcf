package proxy

import (
	"net/http"
	"testing"
)

// alsoStand has two gates whose shops have /api/holds in common, and one for everything below /api/private.
func alsoStand(t *testing.T) (s *stand, rooms map[string]*fakeRoom) {
	rooms = map[string]*fakeRoom{"final": {}, "semi": {}, "other": {}}
	s = newStand(t, func(settings *Settings) {
		plain := settings.Gates[0]
		settings.Gates = nil
		for _, name := range []string{"final", "semi", "other"} {
			gate := plain
			gate.Name, gate.Room, gate.Also = name, rooms[name], []string{"/api/events/" + name, "/api/holds/**", "/api/private/x"}
			gate.Match = Match{Paths: []string{"/events/" + name}}
			settings.Gates = append(settings.Gates, gate)
		}
		settings.Gates[2].Also, settings.Gates[2].Match.Paths = nil, []string{"/api/private/**"}
		settings.Gates[1].Match.Hosts = []string{"semi.test"}
	})
	return s, rooms
}

func TestAlso_IsTriedWhereNoGatesOwnPatternsMatch(t *testing.T) {
	s, _ := alsoStand(t)
	for _, tc := range []struct{ host, path, gate string }{
		{"any.test", "/events/final", "final"},
		{"any.test", "/api/events/final", "final"},
		{"any.test", "/api/holds/h1", "final"},
		{"any.test", "/api/private/x", "other"},
		{"semi.test", "/api/events/semi", "semi"},
		{"any.test", "/api/events/semi", ""},
		{"any.test", "/api/holdsx", ""},
	} {
		res, body := s.raw("GET " + tc.path + " HTTP/1.1\r\nHost: " + tc.host + "\r\nAuthorization: Foyer pass\r\n\r\n")
		if tc.gate == "" {
			if res.StatusCode != http.StatusNotFound {
				t.Errorf("%s%s is answered with %d, want 404", tc.host, tc.path, res.StatusCode)
			}
			continue
		}
		if got := s.upstream.last(); res.StatusCode != http.StatusOK || got.Header.Get("X-Foyer-Gate") != tc.gate {
			t.Errorf("%s%s is answered with %d %s by gate %q, want %q", tc.host, tc.path, res.StatusCode, body, got.Header.Get("X-Foyer-Gate"), tc.gate)
		}
	}
}

func TestAlso_BelongsToTheGateWhoseTokenIsShown(t *testing.T) {
	s, rooms := alsoStand(t)
	const ask = "GET /api/holds/h1 HTTP/1.1\r\nHost: semi.test\r\n"
	for cookie, gate := range map[string]string{
		"foyer-semi=pass": "semi", "foyer-final=pass": "final", "foyer-final=invented; foyer-semi=pass": "semi",
		"foyer-final=queue; foyer-semi=pass": "semi", "foyer-final=pass; foyer-semi=pass": "final",
		"foyer-final=pass; foyer-semi=queue": "final",
	} {
		res, body := s.raw(ask + "Cookie: " + cookie + "\r\n\r\n")
		if got := s.upstream.last().Header.Get("X-Foyer-Gate"); res.StatusCode != http.StatusOK || got != gate {
			t.Errorf("with %s it is answered with %d %s by gate %q, want %q", cookie, res.StatusCode, body, got, gate)
		}
	}
	rooms["final"].joined, rooms["semi"].joined = 0, 0
	if res, _ := s.raw(ask + "\r\n"); res.StatusCode != http.StatusTooManyRequests || rooms["final"].joined != 1 || rooms["semi"].joined != 0 {
		t.Errorf("a newcomer is answered with %d, and joined final %d times, semi %d times", res.StatusCode, rooms["final"].joined, rooms["semi"].joined)
	}
}
