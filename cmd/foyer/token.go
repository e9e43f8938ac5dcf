package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"foyer/admission"
	"foyer/config"
)

// tokenText says what a token is, to those who gave something else.
const tokenText = "a token is three parts with dots between, such as eyJ….eyJ….…, and comes as the value of the cookie foyer-GATE " +
	"(__Host-foyer-GATE over HTTPS) or of the header Foyer-Token: give that value alone"

// inspected is what foyer token inspect prints.
type inspected struct {
	Algorithm  string     `json:"algorithm"`
	Key        string     `json:"key"`
	Gate       string     `json:"gate"`
	Use        string     `json:"use"`
	Visitor    string     `json:"visitor"`
	Round      string     `json:"round"`
	Ticket     uint64     `json:"ticket"`
	Position   int        `json:"position,omitempty"`
	Generation int        `json:"generation,omitempty"`
	Issued     time.Time  `json:"issued"`
	Expires    time.Time  `json:"expires"`
	Joined     *time.Time `json:"joined,omitempty"`
	Started    *time.Time `json:"started,omitempty"`
	Verified   bool       `json:"verified"` // the signature and all claims were checked, and are right
	Valid      bool       `json:"valid"`    // and it has not expired
	Reason     string     `json:"reason"`   // why not
}

func newToken() *cobra.Command {
	return newGroup("token", "Look at tokens", newTokenInspect())
}

func newTokenInspect() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect TOKEN",
		Short: "Print what a token says, and whether it counts and why not",
		Long: "Print what a queue token or a pass says: the value of the cookie, or of Foyer-Token; - reads it from the standard\n" +
			"input. The claims can be read without any key; whether they are true needs the tokens.keys of the configuration.",
		Args: exactly("TOKEN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			raw := args[0]
			if raw == "-" {
				text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), 64<<10))
				if err != nil {
					return fmt.Errorf("read token: %w", err)
				}
				raw = string(text)
			}
			found, err := inspectToken(cmd, strings.TrimSpace(raw), time.Now())
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(found)
			}
			return found.tell(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return cmd
}

// inspectToken reads a token and checks it by the configuration, where there is one. One that was asked for must be good.
func inspectToken(cmd *cobra.Command, raw string, now time.Time) (inspected, error) {
	cfg, report := config.Load(configPath(cmd))
	if cfg == nil && cmd.Flags().Changed("config") {
		return inspected{}, misuse{fmt.Errorf("the configuration cannot be used\n\n%w", report.Err())}
	}
	var ring *admission.Keyring
	var leeway time.Duration
	if cfg != nil && len(cfg.Tokens.Keys) > 0 {
		keys, err := new(tokenKeys).read(cfg.Tokens, zap.NewNop())
		if err != nil {
			return inspected{}, err
		}
		if ring, err = admission.NewKeyring(keys...); err != nil {
			return inspected{}, misuse{err}
		}
		leeway = cfg.Tokens.Leeway
	}
	found, err := admission.Inspect(raw, ring, leeway, now)
	if err != nil {
		return inspected{}, misuse{fmt.Errorf("%w; %s", err, tokenText)}
	}
	told := newInspected(found)
	told.Reason = judgement(found, cfg, now)
	told.Verified = found.Checked && found.Rejected == ""
	told.Valid = told.Verified && told.Reason == ""
	return told, nil
}

// judgement is why a token does not count; empty: it does.
func judgement(found admission.Inspection, cfg *config.Config, now time.Time) string {
	if !found.Checked {
		return "unverified: no tokens.keys to check it with; name the configuration with --config"
	}
	if found.Rejected != "" {
		return rejectionText[found.Rejected]
	}
	for _, gate := range cfg.Gates {
		if gate.Name != found.Token.Gate {
			continue
		}
		ago := now.Sub(found.Token.Expires)
		switch {
		case ago < 0:
			return ""
		case ago < gate.Queue.Keep:
			return fmt.Sprintf("expired %v ago; its ticket is kept for %v more", ago.Round(time.Second), (gate.Queue.Keep - ago).Round(time.Second))
		}
		return fmt.Sprintf("expired %v ago, longer than queue.keep", ago.Round(time.Second))
	}
	return fmt.Sprintf("the configuration has no gate %q", found.Token.Gate)
}

// rejectionText says in words why a token is refused.
var rejectionText = map[admission.Rejection]string{
	admission.RejectedTooLong:    "it is too long",
	admission.RejectedMalformed:  "it is malformed",
	admission.RejectedUnknownKey: "no key of its id is in tokens.keys",
	admission.RejectedAlgorithm:  "its algorithm is not that of the key",
	admission.RejectedSignature:  "the signature is not of the key it names",
	admission.RejectedClaims:     "a claim is missing or out of range",
	admission.RejectedGate:       "it is for no gate, or several",
	admission.RejectedFuture:     "it was issued in the future",
}

func newInspected(found admission.Inspection) inspected {
	token := found.Token
	told := inspected{
		Algorithm: found.Algorithm, Key: found.KeyID, Gate: token.Gate, Use: string(token.Use), Visitor: token.Visitor,
		Round: token.Round, Ticket: uint64(token.Ticket), Position: token.Position, Generation: token.Generation,
		Issued: token.Issued.UTC(), Expires: token.Expires.UTC(),
	}
	if !token.Joined.IsZero() {
		told.Joined = new(token.Joined.UTC())
	}
	if !token.Started.IsZero() {
		told.Started = new(token.Started.UTC())
	}
	return told
}

// tell writes it for people.
func (i inspected) tell(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name string, value any) { fmt.Fprintf(table, "%s\t%v\n", name, value) }
	row("gate", i.Gate)
	row("use", i.Use)
	row("ticket", i.Ticket)
	row("visitor", i.Visitor)
	row("round", i.Round)
	if i.Position > 0 {
		row("position", i.Position)
	}
	if i.Joined != nil {
		row("joined", i.Joined.Format(time.RFC3339))
	}
	if i.Started != nil {
		row("started", i.Started.Format(time.RFC3339))
		row("generation", i.Generation)
	}
	row("issued", i.Issued.Format(time.RFC3339))
	row("expires", i.Expires.Format(time.RFC3339))
	row("signed", fmt.Sprintf("%s by key %q", i.Algorithm, i.Key))
	verdict := "it counts"
	if i.Reason != "" {
		verdict = i.Reason
	}
	row("verdict", verdict)
	return table.Flush()
}
