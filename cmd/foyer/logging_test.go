package main

import (
	"errors"
	"strings"
	"testing"

	"foyer/config"
)

// smallDisk takes so many bytes and no more.
type smallDisk struct {
	strings.Builder
	room int
}

func (d *smallDisk) Write(p []byte) (int, error) {
	n := min(len(p), d.room)
	d.room -= n
	d.Builder.Write(p[:n])
	if n < len(p) {
		return n, errors.New("no space left on device")
	}
	return n, nil
}

func TestNewLogger_AFullDiskSpoilsNoLineButTheOneItCuts(t *testing.T) {
	disk := &smallDisk{room: 1000}
	logger, _, err := newLogger(config.Log{Level: "info", Format: "json"}, disk)
	if err != nil {
		t.Fatal(err)
	}
	logger.Info("before")
	disk.room = 20
	logger.Info("cut short")
	logger.Info("not at all")
	disk.room = 1000
	logger.Info("after")
	lines := strings.Split(disk.String(), "\n")
	if len(lines) != 4 || len(lines[1]) != 20 || !strings.HasSuffix(lines[2], `"msg":"after"}`) || lines[3] != "" {
		t.Errorf("the log:\n%s", disk)
	}
}
