package pgstore_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"foyer/internal/services"
	"foyer/store/pgstore"
)

func TestMend_KnowsWhatHelpsAgainstAPostgresThatCannotBeUsed(t *testing.T) {
	good, err := url.Parse(services.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	change := func(change func(*url.URL)) string {
		other := *good
		change(&other)
		return other.String()
	}
	for name, tc := range map[string]struct{ url, want string }{
		"nobody listens":   {"postgres://postgres@127.0.0.1:1/postgres", "see that Postgres runs"},
		"no such user":     {change(func(u *url.URL) { u.User = url.User("nobody-at-all") }), "user and password"},
		"no such database": {change(func(u *url.URL) { u.Path = "/nowhere" }), "make the database"},
		"no such schema":   {change(func(u *url.URL) { u.RawQuery = "search_path=nowhere" }), "make the schema"},
		"no URL":           {"postgres://127.0.0.1:port/", "write it as postgres://"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pgstore.Migrate(t.Context(), tc.url)
			if got := pgstore.Mend(err); err == nil || !strings.Contains(got, tc.want) {
				t.Errorf("against %v helps %q, want %q", err, got, tc.want)
			}
		})
	}
}

func TestMend_KnowsTheCodesOfWhatASuperuserNeverSees(t *testing.T) {
	for code, want := range map[string]string{"28P01": "user and password", "42501": "let its user make tables", "40001": ""} {
		err := fmt.Errorf("migrate the ledger: %w", &pgconn.PgError{Code: code})
		if got := pgstore.Mend(err); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
	if got := pgstore.Mend(errors.New("anything else")); got != "" {
		t.Errorf("against what is not known helps %q", got)
	}
}
