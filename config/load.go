package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
)

// leastConfig is the shortest configuration there is.
const leastConfig = "write at least one gate: " +
	"gates: [{name: shop, upstream: \"http://127.0.0.1:3000\", capacity: 50}]"

// Load reads a configuration file, variables from the environment, and checks too that the files it names are there.
// The Config is nil if the Report has problems.
func Load(path string) (*Config, Report) { return load(path, nil) }

// Reload reads a changed file for a process that runs by another configuration: a key that cannot change while it runs
// is a problem too. The Config is nil if the Report has problems.
func Reload(path string, running *Config) (*Config, Report) { return load(path, running) }

func load(path string, running *Config) (*Config, Report) {
	data, err := readFile(path)
	if err != nil {
		return nil, Report{Problems: []Problem{{File: path, Message: err.Error(),
			Mend: "name the configuration with --config; deploy/foyer.yaml is a sample"}}}
	}
	return reading{name: path, env: os.LookupEnv, stat: os.Stat, running: running}.parse(data)
}

// Parse reads a configuration from memory; name stands for it in problems, and env looks variables up. It opens no
// file. The Config is nil if the Report has problems.
func Parse(name string, data []byte, env func(string) (string, bool)) (*Config, Report) {
	return reading{name: name, env: env}.parse(data)
}

// readFile reads a whole file, but not one that is too long to be a configuration.
func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		var why *os.PathError
		if errors.As(err, &why) {
			err = why.Err // the path is in the problem already
		}
		return nil, fmt.Errorf("open configuration: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return data, nil
}

// reading is how a file is read.
type reading struct {
	name    string // of the file, in problems
	env     func(string) (string, bool)
	stat    statFunc // nil: named files are not looked for
	running *Config  // nil: nothing runs yet
}

// parse goes through all the steps.
func (r reading) parse(data []byte) (*Config, Report) {
	n := newNotes(newSource(r.name, ""))
	top := position{1, 1}
	switch {
	case len(data) > maxFileSize:
		n.problem(top, "", fmt.Sprintf("the file is longer than %s", Size(maxFileSize)), "")
		return nil, n.report()
	case !utf8.Valid(data):
		n.problem(top, "", "the file is not UTF-8 text", "save it as UTF-8")
		return nil, n.report()
	}
	n.source = newSource(r.name, string(data))
	cfg := Default()
	if body := n.document(n.source.parse(n)); body != nil {
		d := &decoder{notes: n, env: r.env, opaque: map[string]bool{}}
		d.value("", top, body, reflect.ValueOf(&cfg).Elem(), "")
		if _, keys := body.(ast.MapNode); keys {
			v := &validator{notes: n, cfg: &cfg, stat: r.stat}
			v.validate()
			if r.running != nil {
				v.fixed(r.running)
			}
		}
	}
	report := n.report()
	if !report.OK() {
		return nil, report
	}
	return &cfg, report
}

// document is the body of the one document of a file, or nil after noting that there is none. A second one is noted.
func (n *notes) document(docs []*ast.DocumentNode) ast.Node {
	var bodies []*ast.DocumentNode
	for _, doc := range docs {
		if _, directive := doc.Body.(*ast.DirectiveNode); directive {
			n.problem(placeOf(doc.Body), "", "YAML directives are not read here", "remove the line")
			continue
		}
		bodies = append(bodies, doc)
	}
	if len(bodies) > 1 {
		at := placeOf(bodies[1].Body)
		if start := bodies[1].Start; start != nil {
			at = position{start.Position.Line, start.Position.Column}
		}
		n.problem(at, "", "a second document begins here, and only one is read", "remove the --- and what follows, or merge it above")
	}
	if len(bodies) == 0 || bodies[0].Body == nil {
		n.missing(position{1, 1}, "", "the file is empty", leastConfig)
		return nil
	}
	if _, nothing := bodies[0].Body.(*ast.CommentGroupNode); nothing {
		n.missing(position{1, 1}, "", "the file is empty", leastConfig)
		return nil
	}
	return bodies[0].Body
}
