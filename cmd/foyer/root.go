package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// run is the whole program but for the process around it: it ends when the command has ended, and cuts it short when
// ctx ends.
func run(ctx context.Context, args []string) error {
	started := false
	root := newRoot()
	root.SetArgs(args)
	root.PersistentPreRun = func(*cobra.Command, []string) { started = true }
	err := root.ExecuteContext(ctx)
	if err != nil && !started && !errors.As(err, new(misuse)) {
		return misuse{err} // an unknown command, flag or argument: nothing has begun
	}
	return err
}

// newRoot puts the subcommands together.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "foyer",
		Short:         "A virtual waiting room in front of your storefront",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.PersistentFlags().StringP("config", "c", "foyer.yaml", "configuration `file`")
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		newCheck(),
		newBench(),
		newDemo(),
		newExplain(),
		newGate(),
		newHealthcheck(),
		newKeys(),
		newLoadtest(),
		newMigrate(),
		newReconcile(),
		newServe(),
		newSimulator(),
		newStatus(),
		newToken(),
		newVersion(),
	)
	return root
}

// exactly asks for arguments by their names; without names, for none.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		takes := strings.Join(names, " and ")
		if len(names) == 0 {
			takes = "flags alone"
		}
		got := counted(len(args), "argument", "arguments")
		return misuse{fmt.Errorf("%s takes %s, and got %s; see %[1]s --help", cmd.CommandPath(), takes, got)}
	}
}

// atLeastOne asks for one argument or more of a kind.
func atLeastOne(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return misuse{fmt.Errorf("%s takes %s, one or more, and got none; see %[1]s --help", cmd.CommandPath(), name)}
		}
		return nil
	}
}

// newGroup is a command that has subcommands and does nothing itself.
func newGroup(name, short string, subcommands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   name,
		Short: short,
		Args:  cobra.NoArgs, // so that an unknown subcommand is an error
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(subcommands...)
	return cmd
}

// configPath is the configuration file that was asked for.
func configPath(cmd *cobra.Command) string {
	path, _ := cmd.Flags().GetString("config") // declared by newRoot, so it cannot fail
	return path
}
