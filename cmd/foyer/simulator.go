package main

import (
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"foyer/config"
	"foyer/origin/gateway/simulator"
)

func newSimulator() *cobra.Command {
	var address, webhookURL, secretVariable string
	cmd := &cobra.Command{
		Use:   "simulator",
		Short: "Run the simulated payment gateway alone",
		Long: "Run the simulated payment gateway alone: intents, charges, refunds and signed webhooks in the manner of\n" +
			"Stripe's API, without money. GET /_simulator/charges tells what was charged.",
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkWebhookURL(webhookURL); err != nil {
				return err
			}
			logger, _, err := newLogger(config.Log{Level: "info", Format: "console"}, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			secret := os.Getenv(secretVariable)
			if secret == "" {
				secret = "whsec_simulator"
			}
			listener, err := listen(cmd.Context(), "--listen", address)
			if err != nil {
				return err
			}
			gateway := simulator.New(simulator.Settings{WebhookURL: webhookURL, WebhookSecret: secret, Logger: logger})
			logger.Info("listening", zap.String("simulator", baseURL("http", listener)))
			group, ctx := errgroup.WithContext(cmd.Context())
			group.Go(func() error { return gateway.Run(ctx) })
			group.Go(func() error { return serveUntil(ctx, plainServer(gateway), listener, 5*time.Second) })
			if err := group.Wait(); err != nil {
				return fmt.Errorf("run the simulator: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&address, "listen", "127.0.0.1:12111", "`address` to listen on")
	cmd.Flags().StringVar(&webhookURL, "webhook-url", "", "where webhooks are sent, such as http://127.0.0.1:8080/webhooks/simulator; empty: none are")
	cmd.Flags().StringVar(&secretVariable, "webhook-secret-env", "SIM_WEBHOOK_SECRET", "environment `variable` with the secret that signs webhooks; unset: whsec_simulator")
	return cmd
}

// checkWebhookURL refuses what no webhook can be sent to; nothing sends none.
func checkWebhookURL(text string) error {
	if text == "" {
		return nil
	}
	parsed, err := url.Parse(text)
	if err != nil || parsed.Hostname() == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return misuse{fmt.Errorf("--webhook-url %q is no URL that webhooks can be sent to: write http(s)://host:port/path, "+
			"such as http://127.0.0.1:8080/webhooks/simulator", text)}
	}
	return nil
}
