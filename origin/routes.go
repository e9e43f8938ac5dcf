package origin

import (
	"net/http"
	"slices"
	"strings"
)

// publicRoutes are the endpoints for buyers and for the gateway.
func (s *Shop) publicRoutes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/{$}", methods{"GET": s.showShop})
	mux.Handle("/events", methods{"GET": s.showShop})
	mux.Handle("/events/{event}", methods{"GET": s.showEvent})
	mux.Handle("/api/events", methods{"GET": s.listEvents})
	mux.Handle("/api/events/{event}", methods{"GET": s.readEvent})
	mux.Handle("/api/events/{event}/holds", methods{"POST": s.makeHold})
	mux.Handle("/api/holds/{hold}", methods{"GET": s.readHold, "DELETE": s.releaseHold})
	mux.Handle("/api/holds/{hold}/pay", methods{"POST": s.pay})
	mux.Handle("/api/orders/{order}", methods{"GET": s.readOrder})
	mux.HandleFunc("/", nothingHere)

	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { refuse(w, crossOrigin, "") }))
	outer := http.NewServeMux()
	outer.Handle("/webhooks/{provider}", methods{"POST": s.takeWebhook}) // signed; no browser sends it
	outer.Handle("/", guard.Handler(mux))
	return outer
}

// adminRoutes are the endpoints for the operator.
func (s *Shop) adminRoutes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/api/events", methods{"GET": s.listEvents})
	mux.Handle("/api/events/{event}", methods{"GET": s.readEvent, "PATCH": s.resizeEvent})
	mux.Handle("/api/events/{event}/ledger", methods{"GET": s.readLedger})
	mux.Handle("/api/orders/{order}/refund", methods{"POST": s.refundOrder})
	mux.Handle("/api/reconcile", methods{"POST": s.reconcileNow})
	mux.HandleFunc("/", nothingHere)
	return mux
}

func nothingHere(w http.ResponseWriter, _ *http.Request) { refuse(w, notFound, "") }

// methods serves one path: a handler for each method, HEAD as GET, and a 405 that names them for any other.
type methods map[string]http.HandlerFunc

func (m methods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if handle := m[method]; handle != nil {
		handle(w, r)
		return
	}
	allowed := make([]string, 0, len(m)+1)
	for name := range m {
		allowed = append(allowed, name)
	}
	if m[http.MethodGet] != nil {
		allowed = append(allowed, http.MethodHead)
	}
	slices.Sort(allowed)
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	refuse(w, methodNotAllowed, "")
}
