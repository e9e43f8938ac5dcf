package origin_test

import (
	"slices"
	"testing"
	"time"

	"foyer/origin"
	"foyer/origin/gateway/simulator"
	"foyer/origin/gateway/stripe"
)

// provider is the client of a gateway, which keeps connections.
type provider interface {
	origin.Gateway
	Close()
}

// connector makes a provider that calls a simulator.
type connector func(simulator string, timeout time.Duration) provider

var hookSecrets = []string{"whsec_old", hookSecret}

func overSimulator(base string, timeout time.Duration) provider {
	return simulator.NewClient(base, timeout, hookSecrets)
}

func overStripe(base string, timeout time.Duration) provider {
	return stripe.NewClient(stripe.Settings{
		SecretKey: "sk_test_1", WebhookSecrets: hookSecrets, APIBase: base, Timeout: timeout,
	})
}

// overProviders runs a test over the client of each provider and each ledger.
func overProviders(t *testing.T, test func(*house), options ...option) {
	t.Parallel()
	for name, connect := range map[string]connector{simulator.Provider: overSimulator, stripe.Provider: overStripe} {
		t.Run(name, func(t *testing.T) {
			overLedgers(t, test, slices.Concat(options, []option{func(p *plan) { p.connect = connect }})...)
		})
	}
}
