package sqlitestore_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"foyer/store/sqlitestore"
)

func TestMend_KnowsWhatHelpsAgainstAFileThatCannotBeUsed(t *testing.T) {
	folder := t.TempDir()
	text := filepath.Join(folder, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ path, want string }{
		"no folder": {filepath.Join(folder, "none", "ledger.db"), "a folder that is there and that this process may write to"},
		"a folder":  {folder, "a folder that is there"},
		"a text":    {text, "this one is no SQLite database"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sqlitestore.Migrate(t.Context(), tc.path)
			if got := sqlitestore.Mend(err); err == nil || !strings.Contains(got, tc.want) {
				t.Errorf("against %v helps %q, want %q", err, got, tc.want)
			}
		})
	}
	if got := sqlitestore.Mend(errors.New("anything else")); got != "" {
		t.Errorf("against what is not known helps %q", got)
	}
}
