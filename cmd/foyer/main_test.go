package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestRun_ExitCodes(t *testing.T) {
	ready := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer ready.Close()
	broken := httptest.NewServer(http.NotFoundHandler())
	defer broken.Close()
	for _, tc := range []struct {
		name string
		args []string
		want int
	}{
		{"a command that works", []string{"version"}, exitOK},
		{"an unknown command", []string{"serv"}, exitMisuse},
		{"an unknown flag", []string{"version", "--loud"}, exitMisuse},
		{"an argument too many", []string{"version", "now"}, exitMisuse},
		{"a healthy server", []string{"healthcheck", "--url", ready.URL}, exitOK},
		{"an unhealthy server", []string{"healthcheck", "--url", broken.URL}, exitFailure},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := exitCode(run(t.Context(), tc.args)); got != tc.want {
				t.Errorf("foyer %v exits with %d, want %d", tc.args, got, tc.want)
			}
		})
	}
}
