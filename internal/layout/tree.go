package layout

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// module is this module's path: the prefix of every import of our own.
const module = "foyer"

// skipped are folders that hold nothing of the project's source.
var skipped = []string{".git", "vendor", "node_modules"}

// goFile is one parsed Go file.
type goFile struct {
	path   string
	syntax *ast.File
	places *token.FileSet
	lines  int
}

func (f *goFile) folder() string { return path.Dir(f.path) }

func (f *goFile) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

func (f *goFile) line(pos token.Pos) int { return f.places.Position(pos).Line }

// offence is one at a node of the file.
func (f *goFile) offence(node ast.Node, format string, args ...any) Offence {
	return Offence{Path: f.path, Line: f.line(node.Pos()), Text: fmt.Sprintf(format, args...)}
}

// imports yields the import path of each import with its node.
func (f *goFile) imports(yield func(string, ast.Node) bool) {
	for _, spec := range f.syntax.Imports {
		if name, err := strconv.Unquote(spec.Path.Value); err == nil && !yield(name, spec) {
			return
		}
	}
}

// goFiles parses all Go files of the tree, but those under testdata.
func goFiles(tree fs.FS) ([]*goFile, error) {
	var files []*goFile
	err := eachFile(tree, func(name string, text []byte) error {
		if path.Ext(name) != ".go" || slices.Contains(strings.Split(name, "/"), "testdata") {
			return nil
		}
		places := token.NewFileSet()
		syntax, err := parser.ParseFile(places, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parse: %w", err)
		}
		files = append(files, &goFile{path: name, syntax: syntax, places: places, lines: lineCount(text)})
		return nil
	})
	return files, err
}

// eachFile calls visit with every regular file's path and content, in lexical order.
func eachFile(tree fs.FS, visit func(name string, text []byte) error) error {
	return fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("read tree: %w", err)
		}
		if slices.Contains(skipped, entry.Name()) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil // In a linked work tree .git is a file.
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return fmt.Errorf("read file: %w", err)
		}
		return visit(name, text)
	})
}

// within tells whether a path is the folder given or lies in it. Every path lies within ".".
func within(name, folder string) bool {
	return folder == "." || name == folder || strings.HasPrefix(name, folder+"/")
}

func lineCount(text []byte) int {
	count := strings.Count(string(text), "\n")
	if len(text) > 0 && text[len(text)-1] != '\n' {
		count++
	}
	return count
}
