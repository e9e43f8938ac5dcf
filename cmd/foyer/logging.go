package main

import (
	"fmt"
	"io"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"foyer/config"
)

// newLogger makes the one logger of a process, as the configuration wants it. Its level can be changed later.
func newLogger(settings config.Log, w io.Writer) (*zap.Logger, zap.AtomicLevel, error) {
	level, err := zap.ParseAtomicLevel(settings.Level)
	if err != nil {
		return nil, level, fmt.Errorf("read log level: %w", err)
	}
	form := zap.NewProductionEncoderConfig()
	form.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	form.EncodeDuration = zapcore.StringDurationEncoder
	encoder := zapcore.NewJSONEncoder(form)
	if settings.Format == "console" {
		form.EncodeLevel = zapcore.CapitalLevelEncoder
		encoder = zapcore.NewConsoleEncoder(form)
	}
	// zap would tell of a line that cannot be written in the same place, in other words than the log's.
	silent := zap.ErrorOutput(zapcore.AddSync(io.Discard))
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(&lines{w: w})), level), silent), level, nil
}

// lines writes one line at a time. One that was cut short, by a full disk, is ended before the next begins, so that it
// spoils no other. It is not safe for concurrent use.
type lines struct {
	w   io.Writer
	cut bool
}

func (l *lines) Write(line []byte) (int, error) {
	if l.cut {
		if _, err := l.w.Write([]byte{'\n'}); err != nil {
			return 0, err
		}
	}
	n, err := l.w.Write(line)
	l.cut = n > 0 && n < len(line)
	return n, err
}
