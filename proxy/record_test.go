package proxy

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// G6: whatever a client writes, one request is one line, without token, query or full address.
func TestRecord_OneHarmlessLinePerRequest(t *testing.T) {
	var out bytes.Buffer
	core := zapcore.NewCore(zapcore.NewConsoleEncoder(zap.NewDevelopmentEncoderConfig()), zapcore.AddSync(&out), zap.DebugLevel)
	s := newStand(t, func(s *Settings) { s.Logger = zap.New(core) })
	s.raw("GET /sale/%1b%5b31m?token=secret HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n")
	s.raw("GET /sale/\u009b31m\u202e?q=secret HTTP/1.1\r\nHost: shop\r\nUser-Agent: a\tb\u0085\u009b31mc" +
		"\r\nCookie: foyer-final=pass; x=secret\r\nConnection: close\r\n\r\n")
	s.server.Close()
	text := out.String()
	if strings.Count(text, "\n") != 2 || strings.Contains(text, "secret") || strings.Contains(text, "foyer-final") ||
		strings.Contains(text, "127.0.0.1\"") || strings.ContainsAny(strings.ReplaceAll(text, "\t", ""), "\x1b\u009b\u202e\r\u0085") {
		t.Errorf("the log is %q", text)
	}
	if !strings.Contains(text, "127.0.0.0/24") {
		t.Errorf("the network is missing: %q", text)
	}
}

func TestRecord_SaysWhatTheGateDid(t *testing.T) {
	core, lines := observer.New(zap.InfoLevel)
	registry := prometheus.NewRegistry()
	metrics, err := NewMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	s := newStand(t, func(s *Settings) { s.Logger, s.Metrics = zap.New(core), metrics })
	s.do("GET", "/sale", "", "Cookie", "foyer-final=pass")
	s.do("GET", "/sale", "", "Cookie", "foyer-final=queue")
	s.do("GET", "/_foyer/health", "")
	s.server.Close()
	var got []string
	for _, line := range lines.All() {
		fields, err := json.Marshal(line.ContextMap()["verdict"])
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, line.Message+string(fields))
	}
	if strings.Join(got, " ") != `request"admit" request"waiting"` {
		t.Errorf("logged %v", got)
	}
	for verdict, want := range map[string]float64{"admit": 1, "waiting": 1, "bypass": 0} {
		if n := testutil.ToFloat64(metrics.requests.WithLabelValues("final", verdict)); n != want {
			t.Errorf("%s counted %v times", verdict, n)
		}
	}
	metrics.Admitted("final", 2)
	metrics.TokenRejected("expired")
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}

func TestRedacted_HidesAddresses(t *testing.T) {
	core, lines := observer.New(zap.WarnLevel)
	redacted(zap.New(core)).Print("http: TLS handshake error from 192.0.2.7:55123: EOF, [2001:db8::1]:443")
	if got := lines.All()[0].ContextMap()["message"]; got != "http: TLS handshake error from [address]: EOF, [address]" {
		t.Errorf("logged %q", got)
	}
}
