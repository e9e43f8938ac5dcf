package layout

import "testing"

func TestImports_RunOneWay(t *testing.T) {
	runCases(t, checkImports, []offending{
		{"cmd may import everything", tree("cmd/foyer/serve.go", importing("foyer/config", "foyer/proxy", "foyer/origin/gateway/simulator",
			"foyer/store", "foyer/store/pgstore", "foyer/loadtest", "foyer/internal/services")), nil},
		{"proxy may import admission", tree("proxy/handler.go", importing("foyer/admission", "net/http")), nil},
		{"stores may import each other and what they implement",
			tree("store/open.go", importing("foyer/store/pgstore", "foyer/admission", "foyer/origin")), nil},
		{"a provider may import origin", tree("origin/gateway/stripe/client.go", importing("foyer/origin", "foyer/origin/gateway/signature")), nil},
		{"a test may import what it runs against", tree("proxy/handler_test.go", importing("foyer/store/memstore", "foyer/internal/services")), nil},
		{"admission imports nothing of ours",
			tree("admission/room.go", importing("foyer/origin")), []string{"admission/room.go: origin"}},
		{"proxy knows no store",
			tree("proxy/handler.go", importing("foyer/store/redisstore")), []string{"proxy/handler.go: neither a store"}},
		{"proxy knows no shop", tree("proxy/handler.go", importing("foyer/origin")), []string{"proxy/handler.go: nor the shop"}},
		{"config imports nothing of ours", tree("config/file.go", importing("foyer/admission")), []string{"config/file.go: plain values"}},
		{"origin knows no provider", tree("origin/payment.go", importing("foyer/origin/gateway/stripe")),
			[]string{"origin/payment.go: knows no implementation", "origin/payment.go: cmd alone"}},
		{"a store knows no HTTP", tree("store/open.go", importing("foyer/proxy")), []string{"store/open.go: knows no HTTP"}},
		{"a load test knows nothing of ours", tree("loadtest/buyer.go", importing("foyer/origin")), []string{"loadtest/buyer.go: as a client"}},
		{"the product needs no test services", tree("store/open.go", importing("foyer/internal/services")),
			[]string{"store/open.go: must not", "store/open.go: no part of the product"}},
		{"a store is no test suite", tree("store/pgstore/ledger.go", importing("foyer/store/storetest")),
			[]string{"store/pgstore/ledger.go: for tests"}},
		{"a new folder needs a direction", tree("queue/queue.go", importing()), []string{"queue: add a direction"}},
	})
}
