package proxy

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"
)

const (
	commandHeader  = "Foyer-Command"
	commandTimeout = 2 * time.Second
	maxExtend      = 24 * time.Hour // what a command may ask for; the room's own limit is lower
)

// obey does what an upstream's answer commands, and strips it. Extending and the stock are dealt with at once, since
// the answer carries the new pass; a release waits until the answer has been sent.
func (x *exchange) obey(h http.Header) {
	lines := h[commandHeader]
	stripCommands(h)
	for _, line := range lines {
		for command := range strings.SplitSeq(line, ",") {
			x.command(strings.TrimSpace(command))
		}
	}
}

// command obeys one command. One that cannot be read, or comes without a ticket, is logged and has no effect.
func (x *exchange) command(command string) {
	name, value, _ := strings.Cut(command, "=")
	n, err := strconv.Atoi(value)
	switch {
	case name == "":
	case name == "stock" && err == nil && n >= 0:
		x.gate.Room.SoldOut(n)
	case name == "release" && value == "" && x.verdict.Ticket != 0:
		x.after = append(x.after, x.release)
	case name == "extend" && err == nil && n > 0 && x.verdict.Ticket != 0:
		x.extend(min(time.Duration(min(n, int(maxExtend/time.Second)))*time.Second, maxExtend))
	default:
		x.table.logger.Warn("command not obeyed", zap.String("gate", x.gate.Name), zap.String("command", printable(command)),
			zap.Bool("ticket", x.verdict.Ticket != 0))
	}
}

// extend carries the lease further, and hands out the pass that says so.
func (x *exchange) extend(d time.Duration) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.r.Context()), commandTimeout)
	defer cancel()
	v, err := x.gate.Room.Extend(ctx, x.verdict.Ticket, d)
	if err != nil {
		x.table.logger.Warn("lease not extended", zap.String("gate", x.gate.Name), zap.Error(err))
		return
	}
	if v.Token != "" {
		x.grant = grant{token: v.Token, until: v.Until}
	}
}

// release ends the ticket. The visitor may have hung up by now; the slot is given back all the same.
func (x *exchange) release() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.r.Context()), commandTimeout)
	defer cancel()
	if err := x.gate.Room.Release(ctx, x.verdict.Ticket); err != nil {
		x.table.logger.Warn("ticket not released", zap.String("gate", x.gate.Name), zap.Error(err))
	}
}
