package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"foyer/config"
)

// madeKey is a new key, as tokens.keys lists it.
type madeKey struct {
	ID          string `json:"id"`
	Secret      string `json:"secret,omitempty"`
	Ed25519File string `json:"ed25519_file,omitempty"`
}

func newKeys() *cobra.Command {
	return newGroup("keys", "Make keys that sign tokens, and tell upstreams theirs", newKeysGenerate(), newKeysUpstream())
}

func newKeysGenerate() *cobra.Command {
	var id, out string
	var pair, asJSON bool
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Make a key and print its line for tokens.keys",
		Long: "Make a key and print its line for tokens.keys. Put it in front of the others: the first signs, all verify. Drop the\n" +
			"old one when the last token it signed has expired, queue.keep after that.",
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			key, err := makeKey(id, pair, out)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(key) // #nosec G117 -- to show the secret is what it is for
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), key.line())
			return err
		},
	}
	cmd.Flags().StringVar(&id, "id", time.Now().Format("2006-01-02"), "`name` of the key")
	cmd.Flags().BoolVar(&pair, "ed25519", false, "make an EdDSA key, whose public half others may have; else a secret for HS256")
	cmd.Flags().StringVar(&out, "out", "", "`file` for the private key of --ed25519, which must not be there yet")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the key as JSON")
	return cmd
}

// makeKey makes a secret, or a private key in a file of its own.
func makeKey(id string, pair bool, out string) (madeKey, error) {
	switch {
	case !config.IsKeyID(id):
		return madeKey{}, misuse{fmt.Errorf("--id %q must be 1 to 64 of A-Z a-z 0-9 . _ -, such as 2026-11", id)}
	case pair && out == "":
		return madeKey{}, misuse{errors.New("--ed25519 needs --out, the file for the private key")}
	case !pair && out != "":
		return madeKey{}, misuse{errors.New("--out is for --ed25519; a secret is printed, to go into the environment")}
	case !pair:
		secret := make([]byte, 32)
		_, _ = rand.Read(secret) // it never fails
		return madeKey{ID: id, Secret: hex.EncodeToString(secret)}, nil
	}
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return madeKey{}, fmt.Errorf("make key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return madeKey{}, fmt.Errorf("encode key: %w", err)
	}
	file, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return madeKey{}, fmt.Errorf("write key: %w", err)
	}
	err = pem.Encode(file, &pem.Block{Type: "PRIVATE KEY", Bytes: der})
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return madeKey{}, fmt.Errorf("write key: %w", err)
	}
	return madeKey{ID: id, Ed25519File: out}, nil
}

// line is the key as an item of tokens.keys.
func (k madeKey) line() string {
	if k.Ed25519File != "" {
		return fmt.Sprintf("- {id: %q, ed25519_file: %q}", k.ID, k.Ed25519File)
	}
	return fmt.Sprintf("- {id: %q, secret: %q}", k.ID, k.Secret)
}
