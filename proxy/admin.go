package proxy

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"go.uber.org/zap"

	"foyer/admission"
)

const maxChange = 64 << 10 // of the body of an admin call

// Operated is a gate as its operators see it.
type Operated interface {
	// Info is how the gate stood at the last tick.
	Info() admission.GateInfo
	// Change changes settings on every replica, until the configuration file's value of a key changes.
	Change(ctx context.Context, change admission.Change) error
	// Reset begins a new round: those who wait start again, those inside stay.
	Reset(ctx context.Context) error
	// SoldOut tells the line what is left to sell, as the upstream's command stock does.
	SoldOut(left int)
	// Release ends one ticket.
	Release(ctx context.Context, ticket admission.Ticket) error
	// Settled waits a moment until Info shows what was done.
	Settled(ctx context.Context)
	// Ready is closed after the first tick.
	Ready() <-chan struct{}
}

// AdminSettings is what the admin listener shows and changes.
type AdminSettings struct {
	Token    string              // asked for as a bearer token; "": none is
	Hosts    []string            // names that it may be called by, besides localhost and any address
	Gates    map[string]Operated // by name
	Events   []string            // of the embedded shop, for the operator's page
	Shop     http.Handler        // the shop's part of the API; nil without one
	Metrics  http.Handler        // nil: none
	Draining func() bool         // the edge is about to stop; nil: never
	Started  time.Time           // of the process; zero: now
	Logger   *zap.Logger         // nil: none
}

// Admin is the handler of the admin listener.
type Admin struct {
	settings AdminSettings
	handler  http.Handler
}

// NewAdmin builds the handler.
func NewAdmin(s AdminSettings) *Admin {
	if s.Logger == nil {
		s.Logger = zap.NewNop()
	}
	if s.Started.IsZero() {
		s.Started = time.Now()
	}
	a := &Admin{settings: s}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { respondText(w, "ok\n") })
	mux.HandleFunc("GET /readyz", a.ready)
	mux.HandleFunc("GET /{$}", a.page)
	mux.HandleFunc("GET /api/gates", a.list)
	mux.HandleFunc("GET /api/gates/{gate}", a.gate(a.show))
	mux.HandleFunc("PATCH /api/gates/{gate}", a.gate(a.change))
	mux.HandleFunc("POST /api/gates/{gate}/reset", a.gate(a.reset))
	mux.HandleFunc("DELETE /api/gates/{gate}/tickets/{ticket}", a.gate(a.revoke))
	if s.Metrics != nil {
		mux.Handle("GET /metrics", s.Metrics)
	}
	if s.Shop != nil {
		for _, path := range []string{"/api/events/", "/api/orders/", "/api/reconcile"} {
			mux.Handle(path, s.Shop)
		}
	}
	a.handler = a.protect(inWords(mux))
	return a
}

// inWords answers for paths and methods that the mux does not know with problems, as everything else is answered.
func inWords(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		plain := &nobody{header: http.Header{}}
		mux.ServeHTTP(plain, r)
		if allow := plain.header.Get("Allow"); allow != "" {
			w.Header().Set("Allow", allow)
			complain(w, kindMethod, "")
			return
		}
		complain(w, kindNotFound, "")
	})
}

func (a *Admin) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handler.ServeHTTP(w, r) }

// names are the gates in order.
func (a *Admin) names() []string {
	names := make([]string, 0, len(a.settings.Gates))
	for name := range a.settings.Gates {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// gate finds the gate of a call.
func (a *Admin) gate(serve func(http.ResponseWriter, *http.Request, Operated)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		gate, ok := a.settings.Gates[r.PathValue("gate")]
		if !ok {
			complain(w, kindNotFound, "no such gate")
			return
		}
		serve(w, r, gate)
	}
}

// list shows all gates.
func (a *Admin) list(w http.ResponseWriter, _ *http.Request) {
	all := make([]gateInfo, 0, len(a.settings.Gates))
	for _, name := range a.names() {
		all = append(all, newGateInfo(a.settings.Gates[name].Info()))
	}
	respondJSON(w, http.StatusOK, all)
}

// show shows one.
func (a *Admin) show(w http.ResponseWriter, _ *http.Request, gate Operated) {
	respondJSON(w, http.StatusOK, newGateInfo(gate.Info()))
}

// change changes settings, and answers with how the gate stands with them.
func (a *Admin) change(w http.ResponseWriter, r *http.Request, gate Operated) {
	change, left, err := readChange(r.Body)
	if err != nil {
		complain(w, kindBadRequest, err.Error())
		return
	}
	if err := gate.Change(r.Context(), change); err != nil {
		a.broken(w, "gate not changed", err)
		return
	}
	if left != nil {
		gate.SoldOut(*left)
	}
	gate.Settled(r.Context())
	info := gate.Info()
	if change.Mode != nil {
		info.Mode = *change.Mode
	}
	if change.Capacity != nil {
		info.Capacity = *change.Capacity
	}
	if change.AdmitRate != nil {
		info.AdmitRate = *change.AdmitRate
	}
	respondJSON(w, http.StatusOK, newGateInfo(info))
}

// reset begins a new round.
func (a *Admin) reset(w http.ResponseWriter, r *http.Request, gate Operated) {
	if err := gate.Reset(r.Context()); err != nil {
		a.broken(w, "gate not reset", err)
		return
	}
	gate.Settled(r.Context())
	respondJSON(w, http.StatusOK, newGateInfo(gate.Info()))
}

// revoke ends one ticket.
func (a *Admin) revoke(w http.ResponseWriter, r *http.Request, gate Operated) {
	ticket, err := strconv.ParseUint(r.PathValue("ticket"), 10, 64)
	if err != nil || ticket == 0 {
		complain(w, kindBadRequest, "a ticket is a number from 1 on")
		return
	}
	if err := gate.Release(r.Context(), admission.Ticket(ticket)); err != nil {
		a.broken(w, "ticket not revoked", err)
		return
	}
	gate.Settled(r.Context())
	w.WriteHeader(http.StatusNoContent)
}

// broken answers where the store did not do what was asked.
func (a *Admin) broken(w http.ResponseWriter, message string, err error) {
	a.settings.Logger.Error(message, zap.Error(err))
	complain(w, kindStore, "the store did not do it; it may be asked again")
}

// complain answers with a problem.
func complain(w http.ResponseWriter, k kind, detail string) {
	w.Header().Set("Cache-Control", "no-store")
	send(w, k.status, "application/problem+json", encode(newProblem(k, detail, nil)))
}
