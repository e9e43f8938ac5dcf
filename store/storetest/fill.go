package storetest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// BenchReconcile looks through the ledger of a sale that is over: the audit and the comparison that a reconcile makes of each
// event, and the check of every row. FOYER_BENCH_ORDERS says how many orders it has, 2,000 if nothing does. numbers is a
// query of the database for the numbers 1 … %d, in a column n, and now is its present moment.
func BenchReconcile(b *testing.B, l LedgerStore, numbers, now string) {
	orders := 2000
	if text := os.Getenv("FOYER_BENCH_ORDERS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			b.Fatal(err)
		}
		orders = n
	}
	fillSold(b, l, fmt.Sprintf(numbers, orders), now, orders)
	b.Run(fmt.Sprintf("reconcile/%d", orders), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			audit, _, err := l.Audit(b.Context(), "e")
			if err != nil || audit.SoldRows != int64(orders) || audit.Orders != int64(orders) {
				b.Fatalf("%+v %v", audit, err)
			}
			if _, _, err := l.Standing(b.Context(), "e", nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run(fmt.Sprintf("check/%d", orders), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if findings, err := l.Check(b.Context(), 1<<40); err != nil || len(findings) > 0 {
				b.Fatalf("%+v %v", findings, err)
			}
		}
	})
}

// fillSold writes a sale that is over, in the database itself.
func fillSold(b *testing.B, l LedgerStore, numbers, now string, orders int) {
	b.Helper()
	for _, statement := range []string{
		`insert into events (id, name, capacity, file_capacity, amount, currency, max_per_buyer, sold, created_at)
			values ('e', 'e', {orders}, {orders}, 100, 'eur', 4, {orders}, {now})`,
		`insert into buyers (event, buyer, units, max_units) select 'e', 'b' || n, 1, 4 from ({numbers}) as numbers`,
		`insert into holds (id, event, buyer, quantity, amount, currency, state, created_at, expires_at)
			select 'h' || n, 'e', 'b' || n, 1, 100, 'eur', 'sold', {now}, {now} from ({numbers}) as numbers`,
		`insert into attempts (id, hold, event, buyer, method, intent, charge, amount, currency, state, created_at, touched_at)
			select 'a' || n, 'h' || n, 'e', 'b' || n, 'pm', 'pi' || n, 'ch' || n, 100, 'eur', 'paid', {now}, {now} from ({numbers}) as numbers`,
		`insert into orders (id, hold, event, buyer, quantity, amount, currency, attempt, charge, created_at)
			select 'o' || n, 'h' || n, 'e', 'b' || n, 1, 100, 'eur', 'a' || n, 'ch' || n, {now} from ({numbers}) as numbers`,
		`analyze`,
	} {
		statement = strings.NewReplacer("{numbers}", numbers, "{now}", now, "{orders}", strconv.Itoa(orders)).Replace(statement)
		if err := l.Exec(b.Context(), statement); err != nil {
			b.Fatalf("%.60s: %v", statement, err)
		}
	}
}
