package config

import "time"

// Origin is the embedded shop.
type Origin struct {
	Strategy       string        `yaml:"strategy" oneof:"pessimistic|atomic_db|group_commit|atomic_redis" change:"restart"`
	HoldTTL        time.Duration `yaml:"hold_ttl" min:"1s" change:"restart"`
	ReapEvery      time.Duration `yaml:"reap_every" min:"10ms" change:"restart"`
	ReconcileEvery time.Duration `yaml:"reconcile_every" min:"10ms" change:"restart"`
	Payment        Payment       `yaml:"payment" change:"restart"`
	Events         []Event       `yaml:"events"`
}

// Payment says who takes the money, and how long that may take.
type Payment struct {
	Provider  string        `yaml:"provider" oneof:"simulator|stripe"`
	Simulator Simulator     `yaml:"simulator"`
	Stripe    Stripe        `yaml:"stripe"`
	Timeout   time.Duration `yaml:"timeout" min:"1ms"` // of one call to the gateway
	Settle    time.Duration `yaml:"settle" min:"1s"`   // how long a seat may stay in paying
}

// Simulator is the payment gateway of our own.
type Simulator struct {
	URL            string   `yaml:"url"` // empty: run it in this process
	WebhookSecrets []Secret `yaml:"webhook_secrets"`
}

// Stripe is the account that is charged.
type Stripe struct {
	SecretKey      Secret   `yaml:"secret_key"`
	WebhookSecrets []Secret `yaml:"webhook_secrets"`
	APIBase        string   `yaml:"api_base"` // empty: Stripe's own
}

// Event is what is on sale.
type Event struct {
	ID          string `yaml:"id" required:"true"`
	Name        string `yaml:"name"` // empty in the file: the id
	Capacity    int64  `yaml:"capacity" min:"1" max:"1000000000" required:"true"`
	Price       Price  `yaml:"price" required:"true"`
	MaxPerBuyer int64  `yaml:"max_per_buyer" min:"1"`
}

// Price is an amount of money in minor units, such as cents.
type Price struct {
	Amount   int64  `yaml:"amount" min:"1" max:"99999999" required:"true" unit:"minor units"`
	Currency string `yaml:"currency" required:"true"` // ISO 4217, lower case
}

// DefaultOrigin is a shop with every default and nothing on sale.
func DefaultOrigin() Origin {
	return Origin{
		Strategy:       "group_commit",
		HoldTTL:        5 * time.Minute,
		ReapEvery:      5 * time.Second,
		ReconcileEvery: 30 * time.Second,
		Payment: Payment{
			Provider:  "simulator",
			Simulator: Simulator{WebhookSecrets: []Secret{"whsec_simulator"}},
			Timeout:   10 * time.Second,
			Settle:    10 * time.Minute,
		},
	}
}

// DefaultEvent is an event with every default, without an id, a capacity and a price.
func DefaultEvent() Event { return Event{MaxPerBuyer: 4} }
