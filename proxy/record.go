package proxy

import (
	"errors"
	"log"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

const (
	maxLogged   = 256 // bytes of a client's string in the log
	statusGone  = 499 // what the log says where the client has hung up before it was answered
	healthLabel = "health"
)

// record is the first step: whatever happens further in, there is one log line, and a panic ends one request alone.
func (e *Edge) record(next handler) handler {
	return func(x *exchange) {
		start := time.Now()
		if x.r.ProtoMajor == 1 && e.Draining() {
			x.w.Header().Set("Connection", "close")
		}
		defer func() { x.finish(start, recover()) }()
		next(x)
		if x.w.status == 0 {
			x.w.WriteHeader(http.StatusOK)
		}
	}
}

// finish does what is left to do once an exchange has been answered, or has failed.
func (x *exchange) finish(start time.Time, failure any) {
	aborted := false
	if err, ok := failure.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		aborted = true
	} else if failure != nil {
		x.table.logger.Error("handler panicked", zap.Any("panic", failure), zap.Stack("stack"))
		aborted = x.w.status != 0
		if !aborted {
			x.plain = true
			x.refuse(x.w, kindInternal, "")
		}
	}
	if len(x.after) > 0 && !aborted && x.w.status != http.StatusSwitchingProtocols {
		_ = http.NewResponseController(x.w.ResponseWriter).Flush()
	}
	for _, act := range x.after {
		act()
	}
	x.log(time.Since(start), aborted)
	if aborted {
		panic(http.ErrAbortHandler)
	}
}

// log writes the line of the exchange and counts it. There is no token in it, no query, and no full address.
func (x *exchange) log(took time.Duration, aborted bool) {
	name := ""
	if x.gate != nil {
		name = x.gate.Name
		x.table.metrics.request(name, x.label)
	}
	if x.label == healthLabel {
		return
	}
	status := x.w.status
	if x.gone {
		status = statusGone
	}
	level := zapcore.InfoLevel
	if status >= http.StatusInternalServerError && x.fault != "" {
		level = zapcore.WarnLevel
	}
	entry := x.table.logger.Check(level, "request")
	if entry == nil {
		return
	}
	path := x.path.Decoded
	if path == "" {
		path = x.r.URL.Path
	}
	fields := []zap.Field{
		zap.String("method", printable(x.r.Method)), zap.String("host", printable(x.r.Host)),
		zap.String("path", printable(path)), zap.String("proto", x.r.Proto), zap.Int("status", status),
		zap.Int64("bytes", x.w.size), zap.Duration("took", took), zap.String("gate", name),
		zap.String("verdict", x.label), zap.Stringer("network", x.client.group()),
		zap.String("agent", printable(x.r.UserAgent())),
	}
	if x.verdict.Ticket != 0 {
		fields = append(fields, zap.Uint64("ticket", uint64(x.verdict.Ticket)))
	}
	if x.fault != "" {
		fields = append(fields, zap.String("fault", printable(x.fault)))
	}
	if aborted {
		fields = append(fields, zap.Bool("aborted", true))
	}
	entry.Write(fields...)
}

// printable is what a client sent, fit for a log: no control characters, and not endless.
func printable(s string) string {
	if len(s) > maxLogged {
		s = s[:maxLogged] + "…"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '�'
		}
		return r
	}, s)
}

// addresses are network addresses with a port, as they occur in messages of net/http.
var addresses = regexp.MustCompile(`(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9A-Fa-f:.%a-z]+\])(?::\d+)?`)

// redactor is the ErrorLog of net/http, written to ours without the visitors' addresses.
type redactor struct{ logger *zap.Logger }

func (r redactor) Write(line []byte) (int, error) {
	r.logger.Warn("net/http reports", zap.String("message", printable(addresses.ReplaceAllString(strings.TrimSpace(string(line)), "[address]"))))
	return len(line), nil
}

// redacted is a logger for net/http.
func redacted(logger *zap.Logger) *log.Logger { return log.New(redactor{logger}, "", 0) }
