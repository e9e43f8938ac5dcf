package simulator

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"
)

const (
	maxBody    = 64 << 10
	maxJobs    = 4096             // webhooks and late successes waiting for Run
	maxRunning = 64               // of them at once
	muteFor    = 60 * time.Second // the longest that a caller is left without an answer
)

// Settings of a [Simulator].
type Settings struct {
	WebhookURL    string       // where webhooks are sent; empty: none are
	WebhookSecret string       // signs them
	Client        *http.Client // sends them; nil: one with a time-out of 5 s
	Logger        *zap.Logger  // nil: silent
}

// Simulator is the gateway, an [http.Handler]. Webhooks and late successes are the work of Run.
type Simulator struct {
	settings Settings
	mux      *http.ServeMux
	book     *book
	keys     *keys
	jobs     chan func(context.Context)
	closed   chan struct{} // when Run has ended
}

var _ http.Handler = (*Simulator)(nil)

// New makes a gateway without payments.
func New(settings Settings) *Simulator {
	if settings.Client == nil {
		settings.Client = &http.Client{Timeout: 5 * time.Second}
	}
	if settings.Logger == nil {
		settings.Logger = zap.NewNop()
	}
	s := &Simulator{
		settings: settings,
		mux:      http.NewServeMux(),
		book:     newBook(),
		keys:     newKeys(),
		jobs:     make(chan func(context.Context), maxJobs),
		closed:   make(chan struct{}),
	}
	s.mux.HandleFunc("POST /v1/payment_intents", s.once(s.create))
	s.mux.HandleFunc("POST /v1/payment_intents/{id}/confirm", s.once(s.confirm))
	s.mux.HandleFunc("POST /v1/payment_intents/{id}/cancel", s.once(s.cancel))
	s.mux.HandleFunc("GET /v1/payment_intents/{id}", s.retrieve)
	s.mux.HandleFunc("POST /v1/refunds", s.once(s.refund))
	s.mux.HandleFunc("GET /_simulator/charges", s.charges)
	s.mux.HandleFunc("POST /_simulator/redeliver", s.redeliver)
	return s
}

// ServeHTTP answers one call.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	s.mux.ServeHTTP(w, r)
}

// Run sends the webhooks and brings late successes about, until the context ends.
func (s *Simulator) Run(ctx context.Context) error {
	defer close(s.closed)
	var group errgroup.Group
	group.SetLimit(maxRunning)
	for {
		select {
		case <-ctx.Done():
			return group.Wait()
		case job := <-s.jobs:
			group.Go(func() error {
				job(ctx)
				return nil
			})
		}
	}
}

// later gives Run a job. A gateway may lose a webhook, and so does this one where too many wait.
func (s *Simulator) later(job func(context.Context)) {
	select {
	case s.jobs <- job:
	default:
		s.settings.Logger.Warn("simulator dropped a job: too many are waiting")
	}
}

// answer is what a call gives back.
type answer struct {
	status int
	body   []byte
	mute   bool // done, but the caller is not told
	forget bool // not kept under the idempotency key
}

// call is the work of one endpoint on its form.
type call func(r *http.Request, form url.Values) answer

// once wraps a call into the rules of idempotency keys.
func (s *Simulator) once(do call) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			write(w, refusal(http.StatusBadRequest, "invalid_request_error", "malformed_form", "The form cannot be read.", nil))
			return
		}
		key := r.Header.Get("Idempotency-Key")
		if key == "" {
			s.give(w, r, do(r, r.PostForm))
			return
		}
		kept, outcome := s.keys.begin(key, r.Method+" "+r.URL.Path+"?"+r.PostForm.Encode())
		switch outcome {
		case keyDone:
			w.Header().Set("Idempotent-Replayed", "true")
			write(w, kept)
		case keyRunning:
			write(w, refusal(http.StatusConflict, "idempotency_error", "idempotency_key_in_use",
				"Another request with this key is in progress.", nil))
		case keyOther:
			write(w, refusal(http.StatusBadRequest, "idempotency_error", "idempotency_key_reused",
				"This key was used with other parameters.", nil))
		default:
			got := do(r, r.PostForm)
			s.keys.end(key, got)
			s.give(w, r, got)
		}
	}
}

// give sends an answer, or for a mute one drops the connection when the caller has had enough.
func (s *Simulator) give(w http.ResponseWriter, r *http.Request, a answer) {
	if !a.mute {
		write(w, a)
		return
	}
	timer := time.NewTimer(muteFor)
	defer timer.Stop()
	select {
	case <-r.Context().Done():
	case <-timer.C:
	case <-s.closed:
	}
	panic(http.ErrAbortHandler)
}

func write(w http.ResponseWriter, a answer) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // a caller that has gone is not our concern
}

// refusal is an error in Stripe's shape.
func refusal(status int, kind, code, message string, about *intent) answer {
	body := map[string]any{"type": kind, "code": code, "message": message}
	if about != nil {
		body["payment_intent"] = about.shape()
		if code == "card_declined" {
			body["decline_code"] = "generic_decline"
		}
	}
	return answer{status: status, body: encode(map[string]any{"error": body}), forget: status == http.StatusConflict}
}

func encode(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // only plain values come here
	}
	return body
}
