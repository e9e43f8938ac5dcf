package main

import (
	"context"
	"net"
	"net/http"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"foyer/config"
	"foyer/origin/gateway/simulator"
)

// till is the payment gateway as the shop reaches it. Where the simulator is to run in this process it is a real HTTP
// server all the same, on a loopback port, which the shop calls and which sends its webhooks back over the same port:
// so they need neither the edge nor its certificate.
type till struct {
	*simulator.Client
	gateway  *simulator.Simulator // nil: elsewhere
	listener net.Listener
	base     string       // URL of the simulator
	hooks    http.Handler // takes the webhooks
}

// newTill connects to the simulator, and starts listening for it where it runs in this process.
func newTill(ctx context.Context, settings config.Payment, logger *zap.Logger) (*till, error) {
	secrets := make([]string, len(settings.Simulator.WebhookSecrets))
	for i, secret := range settings.Simulator.WebhookSecrets {
		secrets[i] = string(secret)
	}
	if settings.Simulator.URL != "" {
		return &till{Client: simulator.NewClient(settings.Simulator.URL, settings.Timeout, secrets), base: settings.Simulator.URL}, nil
	}
	listener, err := listen(ctx, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	base := baseURL("http", listener)
	return &till{
		Client: simulator.NewClient(base, settings.Timeout, secrets),
		gateway: simulator.New(simulator.Settings{
			WebhookURL: base + webhookPath, WebhookSecret: secrets[0], Logger: logger,
		}),
		listener: listener, base: base,
	}, nil
}

// webhookPath is where the shop takes the webhooks of the simulator.
const webhookPath = "/webhooks/" + simulator.Provider

// Run serves the simulator until ctx ends, if it runs in this process.
func (t *till) Run(ctx context.Context) error {
	defer t.close()
	if t.gateway == nil {
		return nil
	}
	mux := http.NewServeMux()
	mux.Handle("POST "+webhookPath, t.hooks)
	mux.Handle("/", t.gateway)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return t.gateway.Run(ctx) })
	group.Go(func() error { return serveUntil(ctx, plainServer(mux), t.listener, time.Second) })
	return group.Wait()
}

// close lets go of the listener and of the connections.
func (t *till) close() {
	t.Close()
	if t.listener != nil {
		_ = t.listener.Close() // its server has closed it, if it ever ran
	}
}
