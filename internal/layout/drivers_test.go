package layout

import "testing"

func TestDrivers_StayBelowTheStore(t *testing.T) {
	runCases(t, checkDrivers, []offending{
		{"in their places", tree("store/pgstore/ledger.go", importing("github.com/jackc/pgx/v5/pgxpool"),
			"cmd/foyer/bench.go", importing("github.com/redis/go-redis/v9"),
			"internal/services/shared.go", importing("database/sql")), nil},
		{"in origin", tree("origin/ledger.go", importing("database/sql")), []string{"origin/ledger.go: database/sql"}},
		{"in admission's test", tree("admission/room_test.go", importing("github.com/redis/go-redis/v9")),
			[]string{"admission/room_test.go: go-redis"}},
		{"a like name is no driver", tree("origin/ledger.go", importing("database/sqlite", "github.com/jackc/pgxlike")), nil},
	})
}

func TestProviders_StayBelowTheGateway(t *testing.T) {
	const stripe = "github.com/stripe/stripe-go/v82"
	runCases(t, checkProviders, []offending{
		{"in their place", tree("origin/gateway/stripe/client.go", importing(stripe)), nil},
		{"in origin", tree("origin/payment.go", importing(stripe)), []string{"origin/payment.go: " + stripe}},
		{"in cmd", tree("cmd/foyer/serve.go", importing(stripe)), []string{"cmd/foyer/serve.go: " + stripe}},
	})
}
