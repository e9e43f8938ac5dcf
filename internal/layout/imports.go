package layout

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"
)

// direction says which of our packages those in a folder may import besides each other's.
type direction struct {
	folder string
	may    []string // folders; "." is everything
	reason string
}

// directions are looked up by the longest folder that holds a package.
var directions = []direction{
	{"admission", nil, "the rules of a waiting room are pure, so that they can be read and tested without HTTP, SQL or Redis"},
	{"origin", nil, "the shop states what it needs of a ledger and a gateway as interfaces and knows no implementation"},
	{"origin/gateway", []string{"origin"}, "a payment provider is an implementation of what origin declares, and knows nothing else"},
	{"config", nil, "configuration is plain values; cmd turns them into each package's own settings"},
	{"proxy", []string{"admission"}, "the edge judges by admission's rules and knows neither a store nor the shop"},
	{"store", []string{"admission", "origin"}, "a store implements what admission and origin declare, and knows no HTTP"},
	{"loadtest", nil, "a load test sees the product as a client does, over HTTP"},
	{"cmd", []string{"."}, "wiring may know everything"},
	{"internal", nil, "what is not the product must not need it"},
}

// restricted are the imports of our own that only some folders may use, whatever their direction allows.
var restricted = []direction{
	{"origin/gateway", []string{"origin/gateway", "cmd"}, "which provider runs is decided in cmd alone"},
	{"internal", []string{"internal", "cmd"}, "test services and rules are no part of the product; only bench starts servers itself"},
	{"store/storetest", []string{"store/storetest"}, "a test suite is for tests"},
}

// checkImports holds non-test files to the directions. A test may import what it runs against.
func checkImports(tree fs.FS) ([]Offence, error) {
	files, err := goFiles(tree)
	if err != nil {
		return nil, err
	}
	var offences []Offence
	for _, file := range files {
		if file.isTest() {
			continue
		}
		from, known := directionOf(file.folder())
		if !known {
			offences = append(offences, Offence{Path: file.folder(), Text: "is in no folder of the design's layout: " +
				"add a direction for it in internal/layout, with the reason"})
			continue
		}
		for name, node := range file.imports {
			target, ours := strings.CutPrefix(name, module+"/")
			if !ours {
				continue
			}
			if !from.allows(target) {
				offences = append(offences, file.offence(node, "imports %s, which %s must not: %s", target, from.folder, from.reason))
			}
			if rule, bound := restriction(file.folder(), target); bound {
				offences = append(offences, file.offence(node, "imports %s, which is for %s alone: %s", target,
					strings.Join(rule.may, " and "), rule.reason))
			}
		}
	}
	return offences, nil
}

func directionOf(folder string) (direction, bool) {
	var matching []direction
	for _, d := range directions {
		if within(folder, d.folder) {
			matching = append(matching, d)
		}
	}
	if len(matching) == 0 {
		return direction{}, false
	}
	return slices.MaxFunc(matching, func(a, b direction) int { return cmp.Compare(len(a.folder), len(b.folder)) }), true
}

// allows tells whether a package of the folder may import the target. A folder's packages may import each other's, but
// what has a direction of its own is another folder.
func (d direction) allows(target string) bool {
	if to, known := directionOf(target); known && to.folder == d.folder {
		return true
	}
	for _, folder := range d.may {
		if to, known := directionOf(target); within(target, folder) && (folder == "." || known && to.folder == folder) {
			return true
		}
	}
	return false
}

func restriction(from, target string) (direction, bool) {
	for _, rule := range restricted {
		if within(target, rule.folder) && !slices.ContainsFunc(rule.may, func(f string) bool { return within(from, f) }) {
			return rule, true
		}
	}
	return direction{}, false
}
