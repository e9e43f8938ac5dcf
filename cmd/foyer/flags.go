package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagError says what is wrong with a flag, and what it takes.
func flagError(cmd *cobra.Command, err error) error {
	return misuse{fmt.Errorf("%s: %s; see %[1]s --help", cmd.CommandPath(), flagText(err))}
}

// flagText puts what pflag finds into words.
func flagText(err error) string {
	var value *pflag.InvalidValueError
	var none *pflag.ValueRequiredError
	var unknown *pflag.NotExistError
	var syntax *pflag.InvalidSyntaxError
	switch {
	case errors.As(err, &value) && errors.Is(err, strconv.ErrRange):
		return fmt.Sprintf("--%s takes %s, and %s is beyond what it can be", value.GetFlag().Name, taken(value.GetFlag()), value.GetValue())
	case errors.As(err, &value):
		return fmt.Sprintf("--%s takes %s, and got %q", value.GetFlag().Name, taken(value.GetFlag()), value.GetValue())
	case errors.As(err, &none):
		return fmt.Sprintf("--%s takes %s, and nothing follows it", none.GetFlag().Name, taken(none.GetFlag()))
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return "there is no flag -" + unknown.GetSpecifiedName()
	case errors.As(err, &unknown):
		return "there is no flag --" + unknown.GetSpecifiedName()
	case errors.As(err, &syntax):
		return syntax.GetSpecifiedFlag() + " names no flag: one is written --name or --name=value"
	}
	return err.Error()
}

// taken is what a flag takes, with an example where its default is one.
func taken(flag *pflag.Flag) string {
	kind := "a value"
	switch flag.Value.Type() {
	case "int", "int64":
		kind = "a whole number"
	case "float64":
		kind = "a number"
	case "duration":
		return "a time with its unit, such as 30s or 5m"
	case "bool":
		return "true or false"
	default:
		if name, _ := pflag.UnquoteUsage(flag); !strings.Contains(name, "string") {
			kind = "the " + name
		}
	}
	switch flag.DefValue {
	case "", "0", "[]":
		return kind
	}
	return kind + ", such as " + flag.DefValue
}

// atMostOne refuses flags that exclude each other.
func atMostOne(cmd *cobra.Command, names ...string) error {
	given := 0
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			given++
		}
	}
	if given > 1 {
		return misuse{fmt.Errorf("%s takes one of --%s at a time; see %[1]s --help", cmd.CommandPath(), strings.Join(names, ", --"))}
	}
	return nil
}
