package layout

import (
	"io/fs"
	"slices"
	"strings"
)

// drivers are the import paths, with all below them, of what talks to a database or to Redis.
var drivers = []string{
	"database/sql",
	"github.com/jackc/pgx",
	"github.com/lib/pq",
	"github.com/mattn/go-sqlite3",
	"github.com/ncruces/go-sqlite3",
	"github.com/pressly/goose",
	"github.com/redis/go-redis",
	"modernc.org/sqlite",
}

// providers are the import paths of the payment providers' own libraries.
var providers = []string{"github.com/stripe"}

// checkDrivers holds tests as well as the product: a test that needs a database outside the store goes through it.
func checkDrivers(tree fs.FS) ([]Offence, error) {
	return checkForeign(tree, drivers, []string{"store", "cmd", "internal/services"},
		"only store/ knows drivers, so that everything else is the same over each of them")
}

func checkProviders(tree fs.FS) ([]Offence, error) {
	return checkForeign(tree, providers, []string{"origin/gateway"},
		"only origin/gateway/ knows a payment provider's library; the machine of payments knows what origin declares")
}

// checkForeign finds imports of the paths given outside the folders that may have them.
func checkForeign(tree fs.FS, paths, folders []string, reason string) ([]Offence, error) {
	files, err := goFiles(tree)
	if err != nil {
		return nil, err
	}
	var offences []Offence
	for _, file := range files {
		if slices.ContainsFunc(folders, func(folder string) bool { return within(file.folder(), folder) }) {
			continue
		}
		for name, node := range file.imports {
			if slices.ContainsFunc(paths, func(p string) bool { return within(name, p) }) {
				offences = append(offences, file.offence(node, "imports %s outside %s: %s", name,
					strings.Join(folders, ", "), reason))
			}
		}
	}
	return offences, nil
}
