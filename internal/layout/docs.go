package layout

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// checkDocs wants a doc.go with a package comment in every package. A command may have its comment in main.go.
func checkDocs(tree fs.FS) ([]Offence, error) {
	files, err := goFiles(tree)
	if err != nil {
		return nil, err
	}
	packages := map[string]string{} // folder → the package's name
	documented := map[string]bool{}
	for _, file := range files {
		if file.isTest() {
			continue
		}
		name, folder := file.syntax.Name.Name, file.folder()
		packages[folder] = name
		home, opening := "doc.go", "Package "+name+" "
		if name == "main" {
			opening = "Command " + path.Base(folder) + " "
		}
		if base := path.Base(file.path); base != home && !(name == "main" && base == "main.go") {
			continue
		}
		if strings.HasPrefix(file.syntax.Doc.Text(), opening) {
			documented[folder] = true
		}
	}
	var offences []Offence
	for folder, name := range packages {
		if !documented[folder] {
			offences = append(offences, Offence{Path: folder, Text: fmt.Sprintf("package %s has no doc.go that begins with what "+
				"it is (\"Package %s …\", or \"Command …\"): whoever opens a folder reads that first", name, name)})
		}
	}
	slices.SortFunc(offences, comparePaths)
	return offences, nil
}
