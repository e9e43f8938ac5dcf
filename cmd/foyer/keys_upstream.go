package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"foyer/config"
	"foyer/proxy/assertion"
)

func newKeysUpstream() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "upstream URL",
		Short: "Print the secrets by which an upstream checks X-Foyer-Assertion",
		Long: "Print, for each secret of tokens.keys, the one derived from it by which this upstream checks the header\n" +
			"X-Foyer-Assertion: its key id, and the key of HS256. The URL is the upstream's, as the gates name it. With an EdDSA\n" +
			"key in tokens.keys there is nothing to hand over: the public keys are served at /_foyer/jwks.json.",
		Args: exactly("URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, _, err := loadConfig(cmd)
			if err != nil {
				return err
			}
			secrets, err := upstreamSecrets(cfg, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(secrets) // #nosec G117 -- to show the secret is what it is for
			}
			for _, key := range secrets {
				fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", key.ID, key.Secret)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print them as JSON")
	return cmd
}

// upstreamSecrets are the secrets of an upstream that a gate leads to, in the order of tokens.keys.
func upstreamSecrets(cfg *config.Config, upstream string) ([]madeKey, error) {
	var known []string
	for _, gate := range cfg.Gates {
		if gate.Upstream != config.UpstreamOrigin && !slices.Contains(known, gate.Upstream) {
			known = append(known, gate.Upstream)
		}
	}
	base := strings.TrimSuffix(upstream, "/") // as the configuration reads the URL of a gate
	switch {
	case len(known) == 0:
		return nil, misuse{errors.New("all gates lead to the embedded shop, which needs no secret: it is for the URL of an upstream")}
	case !slices.Contains(known, base):
		return nil, misuse{fmt.Errorf("no gate leads to the upstream %s: give one of gates[].upstream, %s",
			upstream, strings.Join(known, ", "))}
	}
	secrets := []madeKey{}
	for _, key := range cfg.Tokens.Keys {
		if key.Ed25519File != "" {
			return nil, misuse{fmt.Errorf("the EdDSA key %q signs: upstreams check with /_foyer/jwks.json", key.ID)}
		}
		secrets = append(secrets, madeKey{ID: key.ID, Secret: assertion.Secret([]byte(key.Secret), base)})
	}
	if len(secrets) == 0 {
		return nil, misuse{errors.New("tokens.keys is empty: what signs changes at each start")}
	}
	return secrets, nil
}
