package services

import (
	"cmp"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// remedy is the command that installs the servers; it ends every message about a missing one.
const remedy = "sudo apt-get install postgresql redis-server (or: make test-deps)"

// postgresBinary finds a program of the newest Postgres installed where Debian puts it, which is not on the PATH, or
// else one on the PATH.
func postgresBinary(name string) (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", name, err)
	}
	if len(found) > 0 {
		return slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(majorVersion(a), majorVersion(b)) }), nil
	}
	return pathBinary(name)
}

func pathBinary(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is not installed: %s", name, remedy)
	}
	return path, nil
}

// majorVersion reads 15 from /usr/lib/postgresql/15/bin/postgres.
func majorVersion(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}
