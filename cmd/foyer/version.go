package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker in a release: -ldflags "-X main.version=v1.2.3".
var version = ""

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and the Go release it was built with",
		Args:  exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), buildName())
			return err
		},
	}
}

// buildName names the build in one line, from what the Go toolchain noted in the binary.
func buildName() string {
	name, commit, changed := version, "unknown", ""
	info, ok := debug.ReadBuildInfo()
	if ok {
		if name == "" {
			name = info.Main.Version
		}
		for _, setting := range info.Settings {
			switch {
			case setting.Key == "vcs.revision" && len(setting.Value) >= 12:
				commit = setting.Value[:12]
			case setting.Key == "vcs.modified" && setting.Value == "true":
				changed = "+changes"
			}
		}
	}
	if name == "" {
		name = "(devel)"
	}
	return fmt.Sprintf("foyer %s commit %s%s %s %s/%s", name, commit, changed, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
