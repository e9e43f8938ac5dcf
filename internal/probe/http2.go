package main

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
)

// h2spec is the tool, pinned. It is run from the module proxy and is no dependency of this module.
const h2spec = "github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible"

// specReport is h2spec's report, in JUnit's form.
type specReport struct {
	Suites []struct {
		Package string `xml:"package,attr"`
		Cases   []struct {
			Name   string    `xml:"classname,attr"`
			Failed *struct{} `xml:"failure"`
			Erred  *struct{} `xml:"error"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

// probeHTTP2 compares foyer with Go's own server.
func probeHTTP2(ctx context.Context, s *stage, out io.Writer) error {
	tool := filepath.Join(s.folder, "bin")
	install := exec.CommandContext(ctx, "go", "install", h2spec)
	install.Env = append(os.Environ(), "GOBIN="+tool, "GOFLAGS=-mod=mod")
	install.Dir = s.folder
	if text, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("install h2spec: %w\n%s", err, text)
	}
	tool = filepath.Join(tool, "h2spec")
	total, standard, err := runSpec(ctx, tool, s.standard.Listener.Addr().String(), filepath.Join(s.folder, "standard.xml"))
	if err != nil {
		return err
	}
	_, ours, err := runSpec(ctx, tool, s.edge, filepath.Join(s.folder, "foyer.xml"))
	if err != nil {
		return err
	}
	worse := 0
	for name := range ours {
		if !standard[name] {
			worse++
			fmt.Fprintln(out, "foyer alone fails:", name)
		}
	}
	for name := range standard {
		fmt.Fprintf(out, "Go's server fails, foyer too: %v: %s\n", ours[name], name)
	}
	fmt.Fprintf(out, "%d tests of HTTP/2 on TLS: Go's server fails %d, foyer %d, of which %d alone\n", total, len(standard), len(ours), worse)
	if worse > 0 {
		return errors.New("foyer fails where Go's own server does not")
	}
	return nil
}

// runSpec runs all tests against a server and names those that it failed.
func runSpec(ctx context.Context, tool, address, report string) (total int, failed map[string]bool, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return 0, nil, err
	}
	said, err := exec.CommandContext(ctx, tool, "-h", host, "-p", port, "-t", "-k", "-o", "5", "-j", report).CombinedOutput()
	text, missing := os.ReadFile(report)
	if missing != nil { // it ends with 1 where a test failed
		return 0, nil, fmt.Errorf("run h2spec: %w, %w\n%s", err, missing, said)
	}
	var read specReport
	if err := xml.Unmarshal(text, &read); err != nil {
		return 0, nil, fmt.Errorf("read the report of h2spec: %w", err)
	}
	failed = map[string]bool{}
	for _, suite := range read.Suites {
		for _, test := range suite.Cases {
			total++
			if test.Failed != nil || test.Erred != nil {
				failed[suite.Package+": "+test.Name] = true
			}
		}
	}
	if total == 0 {
		return 0, nil, errors.New("h2spec ran no test")
	}
	return total, failed, nil
}
