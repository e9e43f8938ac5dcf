package layout

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// emptyNames say nothing of what a package or file holds, so that anything ends up in it.
var emptyNames = []string{
	"base", "common", "helper", "helpers", "lib", "manager", "misc", "models", "service", "shared_types", "stuff",
	"types", "util", "utilities", "utils",
}

// checkNames holds packages, folders and files, tests included, to names that say something.
func checkNames(tree fs.FS) ([]Offence, error) {
	files, err := goFiles(tree)
	if err != nil {
		return nil, err
	}
	var offences []Offence
	for _, file := range files {
		base := strings.TrimSuffix(strings.TrimSuffix(path.Base(file.path), ".go"), "_test")
		name := strings.TrimSuffix(file.syntax.Name.Name, "_test")
		for _, word := range slices.Compact([]string{name, path.Base(file.folder()), base}) {
			if slices.Contains(emptyNames, word) {
				offences = append(offences, Offence{Path: file.path, Text: fmt.Sprintf(
					"the name %s says nothing of what is in it: name a package for what it holds and a file for its main type", word)})
			}
		}
	}
	return offences, nil
}
