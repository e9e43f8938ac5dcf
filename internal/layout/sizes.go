package layout

import (
	"go/ast"
	"io/fs"
	"slices"
)

// The limits for files that are not tests. The aim is 250 and 45; the rest is room for what reads better in one piece.
const (
	maxFileLines     = 300
	maxFunctionLines = 60
)

// exceptions are the files and functions that may be longer, as "path" or "path function", each with its reason.
var exceptions = map[string]string{}

// checkSizes holds all but tests to the limits. An exception that is no longer needed offends as well.
func checkSizes(tree fs.FS) ([]Offence, error) {
	return checkSizesBut(tree, exceptions)
}

func checkSizesBut(tree fs.FS, exceptions map[string]string) ([]Offence, error) {
	files, err := goFiles(tree)
	if err != nil {
		return nil, err
	}
	var offences []Offence
	used := map[string]bool{}
	for _, file := range files {
		if file.isTest() {
			continue
		}
		if _, excepted := exceptions[file.path]; file.lines > maxFileLines && excepted {
			used[file.path] = true
		} else if file.lines > maxFileLines {
			offences = append(offences, Offence{Path: file.path, Line: maxFileLines, Text: "is longer than 300 lines: split it by " +
				"concept, so that each file can be read in one go"})
		}
		for _, decl := range file.syntax.Decls {
			function, ok := decl.(*ast.FuncDecl)
			if !ok || file.line(function.End())-file.line(function.Pos())+1 <= maxFunctionLines {
				continue
			}
			key := file.path + " " + function.Name.Name
			if _, excepted := exceptions[key]; excepted {
				used[key] = true
				continue
			}
			offences = append(offences, file.offence(function, "%s is longer than 60 lines: name its steps", function.Name.Name))
		}
	}
	for key := range exceptions {
		if !used[key] {
			offences = append(offences, Offence{Path: key, Text: "is short, or gone: remove its exception in internal/layout"})
		}
	}
	slices.SortFunc(offences, comparePaths)
	return offences, nil
}
