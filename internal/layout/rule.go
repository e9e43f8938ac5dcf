package layout

import (
	"fmt"
	"io/fs"
	"strings"
)

// Rule is one rule of the house.
type Rule struct {
	// Name says what holds where the rule is kept.
	Name string
	// Check returns what offends the rule in the tree of this module. An error means that the tree cannot be read.
	Check func(tree fs.FS) ([]Offence, error)
}

// Rules are all rules, in the order in which they are worth reading.
var Rules = []Rule{
	{"imports run one way", checkImports},
	{"drivers stay below the store", checkDrivers},
	{"payment providers stay below the gateway", checkProviders},
	{"every package says what it is", checkDocs},
	{"packages and files are named for what they hold", checkNames},
	{"files and functions are short", checkSizes},
	{"scripts say what they take and return", checkScripts},
	{"tests are never skipped", checkSkips},
	{"no path of one machine is written down", checkMachinePaths},
}

// Offence is one place that breaks a rule.
type Offence struct {
	Path string // of the file or folder, from the module's root
	Line int    // 0: the whole file
	Text string // what is wrong, and why it is
}

func (o Offence) String() string {
	if o.Line == 0 {
		return fmt.Sprintf("%s: %s", o.Path, o.Text)
	}
	return fmt.Sprintf("%s:%d: %s", o.Path, o.Line, o.Text)
}

func comparePaths(a, b Offence) int { return strings.Compare(a.Path, b.Path) }
