package layout

import (
	"bytes"
	"io/fs"
	"regexp"
)

// machinePath finds the folders that exist on some developer's or build machine only: home folders, and those in which
// this project happens to be worked on. (Written so that this file does not contain one.)
var machinePath = regexp.MustCompile(`(?:^|[^\w.~}-])/(?:work|root|home/\w+|Users/\w+|tmp/[d]ev)/`)

// checkMachinePaths looks through all text files.
func checkMachinePaths(tree fs.FS) ([]Offence, error) {
	var offences []Offence
	err := eachFile(tree, func(name string, text []byte) error {
		if bytes.IndexByte(text, 0) >= 0 {
			return nil // not text
		}
		number := 0
		for line := range bytes.Lines(text) {
			number++
			if found := machinePath.Find(line); found != nil {
				offences = append(offences, Offence{Path: name, Line: number, Text: "names " + string(bytes.TrimSpace(found)) +
					", a folder of one machine: whoever reads or runs this has another"})
			}
		}
		return nil
	})
	return offences, err
}
