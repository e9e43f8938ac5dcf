package sqlitestore

import (
	"errors"
	"net/url"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// driver is the name under which the driver registers itself with database/sql. No other file knows which one it is.
const driver = "sqlite"

// memory is the path of a database that lives and dies with the process.
const memory = ":memory:"

// source is the data source name of a path. A reading connection refuses to write.
func source(path string, reading bool) string {
	options := url.Values{"_pragma": {
		"busy_timeout(5000)", "journal_mode(wal)", "synchronous(full)", "foreign_keys(on)",
	}}
	if reading {
		options.Add("_pragma", "query_only(on)")
	} else {
		options.Set("_txlock", "immediate")
	}
	if path == memory {
		return "file::memory:?" + options.Encode()
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + options.Encode()
}

// isRejected tells whether the database has rejected a statement for its content.
func isRejected(err error) bool {
	var failed *sqlite.Error
	return errors.As(err, &failed) && failed.Code()&0xff == sqlite3.SQLITE_CONSTRAINT
}
