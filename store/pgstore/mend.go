package pgstore

import (
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Mend is what helps against an error of [Open] or [Migrate]; empty where nothing is known to. The codes are those of
// https://www.postgresql.org/docs/current/errcodes-appendix.html.
func Mend(err error) string {
	if errors.Is(err, errNoSchema) {
		return "make the schema, or name one that is there as search_path in its URL"
	}
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		switch {
		case strings.HasPrefix(answer.Code, "28"): // invalid authorization
			return "see that user and password of its URL are right, and that Postgres lets this user in from here"
		case answer.Code == "3D000": // invalid catalog name
			return "make the database, or name one that is there in its URL"
		case answer.Code == "42501": // insufficient privilege
			return "let its user make tables in the schema, or run foyer migrate as one who may"
		}
		return ""
	}
	if errors.As(err, new(*pgconn.ParseConfigError)) {
		return "write it as postgres://user:password@host:port/database"
	}
	if errors.As(err, new(*pgconn.ConnectError)) {
		return "see that Postgres runs, and that host, port and sslmode of its URL are right"
	}
	return ""
}
