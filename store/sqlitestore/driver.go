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

// Mend is what helps against an error of [Open] or [Migrate]; empty where nothing is known to.
func Mend(err error) string {
	var failed *sqlite.Error
	if !errors.As(err, &failed) {
		return ""
	}
	switch failed.Code() & 0xff { // without what extends it
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return "name a file in a folder that is there and that this process may write to; it makes files beside it"
	case sqlite3.SQLITE_NOTADB:
		return "name another file: this one is no SQLite database"
	case sqlite3.SQLITE_CORRUPT:
		return "put a good copy of the ledger in its place"
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return "end the process that has it locked, or name another file"
	case sqlite3.SQLITE_FULL:
		return "make room on its disk"
	}
	return ""
}
