package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"foyer/config"
)

func newCheck() *cobra.Command {
	var show, asJSON, schema bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the configuration and explain it; name every problem at once",
		Long: "Check reads the configuration as serve would, without starting anything. It names every problem with its line\n" +
			"and ends with exit code 2 if there is one.",
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := atMostOne(cmd, "print", "json", "schema"); err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if schema {
				return printSchema(out)
			}
			cfg, report := config.Load(configPath(cmd))
			if asJSON {
				return checkJSON(out, cfg, report)
			}
			for _, warning := range report.Warnings {
				fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n\n", warning)
			}
			if err := report.Err(); err != nil {
				return misuse{fmt.Errorf("the configuration cannot be used\n\n%w", err)}
			}
			if show {
				return printConfig(out, cfg)
			}
			_, err := io.WriteString(out, explain(cfg))
			return err
		},
	}
	cmd.Flags().BoolVar(&show, "print", false, "print the effective configuration, defaults filled in and secrets hidden")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	cmd.Flags().BoolVar(&schema, "schema", false, "print a JSON Schema of the configuration, for editors")
	return cmd
}

// printSchema writes the schema of every configuration.
func printSchema(out io.Writer) error {
	text, err := config.Schema()
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}

// printConfig writes the effective configuration as YAML.
func printConfig(out io.Writer, cfg *config.Config) error {
	text, err := cfg.Print()
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, text)
	return err
}

// gateJSON is what checkJSON says of a gate.
type gateJSON struct {
	Gate     string   `json:"gate"`
	Hosts    []string `json:"hosts"`
	Paths    []string `json:"paths"`
	Upstream string   `json:"upstream"`
	Capacity int      `json:"capacity"`
	Mode     string   `json:"mode"`
}

// checkJSON writes the report for a program to read.
func checkJSON(out io.Writer, cfg *config.Config, report config.Report) error {
	answer := struct {
		OK       bool             `json:"ok"`
		Problems []config.Problem `json:"problems"`
		Warnings []config.Problem `json:"warnings"`
		Gates    []gateJSON       `json:"gates"`
	}{report.OK(), append([]config.Problem{}, report.Problems...), append([]config.Problem{}, report.Warnings...), []gateJSON{}}
	if cfg != nil {
		for _, g := range cfg.Gates {
			answer.Gates = append(answer.Gates, gateJSON{g.Name, append([]string{}, g.Match.Hosts...),
				append([]string{}, g.Match.Paths...), g.Upstream, g.Capacity, g.Mode})
		}
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(answer); err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	if !report.OK() {
		return misuse{errors.New("the configuration cannot be used")}
	}
	return nil
}

// explain says in a few lines what a configuration does.
func explain(cfg *config.Config) string {
	var b strings.Builder
	b.WriteString("ok\n\n")
	for _, g := range cfg.Gates {
		fmt.Fprintf(&b, "gate %s\n", g.Name)
		fmt.Fprintf(&b, "  matches   %s%s\n", anyOr("any host", g.Match.Hosts), anyOr(", any path", g.Match.Paths, " and paths "))
		if g.Name == config.DefaultGateName {
			b.WriteString("            tried after all other gates\n")
		}
		fmt.Fprintf(&b, "  leads to  %s\n", upstreamName(g.Upstream))
		fmt.Fprintf(&b, "  admits    %s\n\n", admissionText(g))
	}
	line := "in this process: one replica only"
	if cfg.Store.Redis != "" {
		line = "in " + cfg.Store.Redis.String()
	}
	fmt.Fprintf(&b, "the line is kept %s\n", line)
	if len(cfg.Tokens.Keys) == 0 {
		b.WriteString("no tokens.keys: a key is made at each start, and places do not survive a restart (openssl rand -hex 32 makes one to keep)\n")
	}
	if cfg.Origin != nil {
		ledger := cfg.Store.SQLite
		if cfg.Store.Postgres != "" {
			ledger = cfg.Store.Postgres.String()
		}
		fmt.Fprintf(&b, "the shop sells %s by %s, from the ledger in %s; payments go to %s\n",
			eventNames(cfg.Origin.Events), cfg.Origin.Strategy, ledger, cfg.Origin.Payment.Provider)
	}
	return b.String()
}

// admissionText says how many buyers a gate lets in.
func admissionText(g config.Gate) string {
	switch g.Mode {
	case "off":
		return "everyone: mode is off"
	case "shadow":
		return fmt.Sprintf("everyone: mode is shadow, and the line is kept as if %d were admitted at once", g.Capacity)
	}
	text := fmt.Sprintf("at most %d buyers at once", g.Capacity)
	if g.AdmitRate > 0 {
		text += fmt.Sprintf(", %d a minute", g.AdmitRate)
	}
	if g.Mode == "paused" {
		text += ", nobody new while mode is paused"
	}
	return text
}

func upstreamName(upstream string) string {
	if upstream == config.UpstreamOrigin {
		return "the embedded shop"
	}
	return upstream
}

// eventNames lists what is on sale.
func eventNames(events []config.Event) string {
	names := make([]string, len(events))
	for i, event := range events {
		names[i] = event.ID
	}
	return anyOr("nothing", names)
}

// anyOr lists items after a lead, or says that there is no bound.
func anyOr(none string, items []string, lead ...string) string {
	if len(items) == 0 {
		return none
	}
	return strings.Join(lead, "") + strings.Join(items, ", ")
}

// counted is a number with what it counts.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
