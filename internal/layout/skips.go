package layout

import (
	"go/ast"
	"io/fs"
	"slices"
	"strings"
)

// checkSkips finds tests and benchmarks that can skip themselves. A fuzz test may skip an input.
func checkSkips(tree fs.FS) ([]Offence, error) {
	files, err := goFiles(tree)
	if err != nil {
		return nil, err
	}
	var offences []Offence
	for _, file := range files {
		if !file.isTest() {
			continue
		}
		for _, decl := range file.syntax.Decls {
			function, ok := decl.(*ast.FuncDecl)
			if !ok || strings.HasPrefix(function.Name.Name, "Fuzz") {
				continue
			}
			for node := range ast.Preorder(function) {
				if isSkip(node) {
					offences = append(offences, file.offence(node, "%s can skip itself: a skipped test looks like a passed one; "+
						"fail with the command that installs what is missing", function.Name.Name))
				}
			}
		}
	}
	return offences, nil
}

func isSkip(node ast.Node) bool {
	call, ok := node.(*ast.CallExpr)
	if !ok {
		return false
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, selector.Sel.Name)
}
