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
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), level)), level, nil
}
