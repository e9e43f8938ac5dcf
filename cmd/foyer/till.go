package main

import (
	"context"
	"net"
	"net/http"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"foyer/config"
	"foyer/origin"
	"foyer/origin/gateway/simulator"
	"foyer/origin/gateway/stripe"
)

// gateway is a payment provider with its connections.
type gateway interface {
	origin.Gateway
	Close()
}

// till is the payment gateway as the shop reaches it. Where the simulator is to run in this process it is a real HTTP
// server all the same, on a loopback port, which the shop calls and which sends its webhooks back over the same port:
// so they need neither the edge nor its certificate.
type till struct {
	gateway
	simulator *simulator.Simulator // nil: elsewhere, or the provider is another
	listener  net.Listener
	base      string       // URL of the simulator
	hooks     http.Handler // takes the webhooks
}

// newTill makes the client of the provider, and starts listening for the simulator where it runs in this process.
func newTill(ctx context.Context, settings config.Payment, logger *zap.Logger) (*till, error) {
	if settings.Provider == stripe.Provider {
		return &till{gateway: stripe.NewClient(stripe.Settings{
			SecretKey: string(settings.Stripe.SecretKey), WebhookSecrets: plain(settings.Stripe.WebhookSecrets),
			APIBase: settings.Stripe.APIBase, Timeout: settings.Timeout, Logger: logger,
		})}, nil
	}
	secrets := plain(settings.Simulator.WebhookSecrets)
	if url := settings.Simulator.URL; url != "" {
		return &till{gateway: simulator.NewClient(url, settings.Timeout, secrets), base: url}, nil
	}
	listener, err := listen(ctx, "the simulator", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	base := baseURL("http", listener)
	return &till{
		gateway: simulator.NewClient(base, settings.Timeout, secrets),
		simulator: simulator.New(simulator.Settings{
			WebhookURL: base + webhookPath(simulator.Provider), WebhookSecret: secrets[0], Logger: logger,
		}),
		listener: listener, base: base,
	}, nil
}

// webhookPath is where the shop takes the webhooks of a provider.
func webhookPath(provider string) string { return "/webhooks/" + provider }

// Run serves the simulator until ctx ends, if it runs in this process.
func (t *till) Run(ctx context.Context) error {
	defer t.close()
	if t.simulator == nil {
		return nil
	}
	mux := http.NewServeMux()
	mux.Handle("POST "+webhookPath(simulator.Provider), t.hooks)
	mux.Handle("/", t.simulator)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return t.simulator.Run(ctx) })
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

func plain(secrets []config.Secret) []string {
	texts := make([]string, len(secrets))
	for i, secret := range secrets {
		texts[i] = string(secret)
	}
	return texts
}
