package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"foyer/config"
)

// reloader has an app take over its configuration when a file of it changes, or when SIGHUP asks for it.
type reloader struct {
	app    *app
	path   string
	level  zap.AtomicLevel
	logger *zap.Logger
	hangup chan os.Signal
	good   prometheus.Gauge // whether the file read last could be used
	last   prometheus.Gauge // when one was taken over

	mu      sync.Mutex // held during a reload
	running *config.Config
}

// reloads has the app follow its configuration file while it runs. Until then SIGHUP is remembered.
func (a *app) reloads(path string, running *config.Config, level zap.AtomicLevel) error {
	r := &reloader{
		app: a, path: path, level: level, logger: a.logger, running: running, hangup: make(chan os.Signal, 1),
		good: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: "foyer", Name: "config_last_reload_successful", Help: "Whether the configuration read last could be used.",
		}),
		last: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: "foyer", Name: "config_last_reload_success_timestamp_seconds", Help: "When a configuration was taken over last.",
		}),
	}
	for _, gauge := range []prometheus.Gauge{r.good, r.last} {
		if err := a.front.registry.Register(gauge); err != nil {
			return fmt.Errorf("register metrics: %w", err)
		}
	}
	r.good.Set(1)
	r.last.SetToCurrentTime()
	signal.Notify(r.hangup, syscall.SIGHUP)
	a.reloader = r
	return nil
}

// Run reloads until ctx ends.
func (r *reloader) Run(ctx context.Context) error {
	defer signal.Stop(r.hangup)
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() {
		if err := config.Watch(ctx, r.files, func() { r.reload(ctx, "file") }); err != nil {
			r.logger.Warn("configuration not watched, SIGHUP reloads it", zap.Error(err))
		}
	})
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.hangup:
			r.reload(ctx, "signal")
		}
	}
}

// files are what the configuration is made of.
func (r *reloader) files() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append(r.running.Files(), r.path)
}

// reload takes the file over, or leaves everything as it is and says why.
func (r *reloader) reload(ctx context.Context, cause string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	started := time.Now()
	next, report := config.Reload(r.path, r.running)
	err := r.refusal(report)
	if err == nil {
		err = r.app.reload(ctx, r.running, next)
	}
	if err != nil {
		r.good.Set(0)
		r.logger.Error("configuration refused, the old one stays", zap.String("cause", cause), zap.Error(err))
		return
	}
	_ = r.level.UnmarshalText([]byte(next.Server.Log.Level)) // it was checked with the file
	r.running = next
	r.good.Set(1)
	r.last.SetToCurrentTime()
	warn(r.logger, report)
	r.logger.Info("configuration reloaded", zap.String("cause", cause), zap.Int("gates", len(next.Gates)), zap.Duration("took", time.Since(started)))
}

// refusal logs what is wrong with a file, one line for each problem.
func (r *reloader) refusal(report config.Report) error {
	for _, problem := range report.Problems {
		r.logger.Error("configuration", problemFields(problem)...)
	}
	if report.OK() {
		return nil
	}
	return fmt.Errorf("%s in %s", counted(len(report.Problems), "problem", "problems"), r.path)
}

// warn logs what is odd about a file.
func warn(logger *zap.Logger, report config.Report) {
	for _, warning := range report.Warnings {
		logger.Warn("configuration", problemFields(warning)...)
	}
}

func problemFields(problem config.Problem) []zap.Field {
	return []zap.Field{
		zap.String("problem", problem.Message), zap.String("key", problem.Key), zap.Int("line", problem.Line),
		zap.String("mend", problem.Mend),
	}
}
