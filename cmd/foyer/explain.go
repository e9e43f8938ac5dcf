package main

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/net/http/httpguts"

	"foyer/config"
	"foyer/proxy"
)

// explained is what foyer explain prints.
type explained struct {
	Method   string   `json:"method"`
	Verdict  string   `json:"verdict"`
	Meaning  string   `json:"meaning"`
	Status   int      `json:"status,omitempty"` // of a refusal
	Host     string   `json:"host"`
	Path     string   `json:"path"`
	Client   string   `json:"client"`
	Trusted  bool     `json:"trusted_proxy"`
	Secure   bool     `json:"secure"`
	Gate     string   `json:"gate,omitempty"`
	By       string   `json:"matched_by,omitempty"`
	Passed   []string `json:"not,omitempty"`    // the gates tried before, each with the reason
	Bypass   int      `json:"bypass,omitempty"` // the rule, from 1
	Upstream string   `json:"upstream,omitempty"`
	Cookie   string   `json:"cookie,omitempty"`
}

func newExplain() *cobra.Command {
	var headers []string
	var from string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain METHOD URL",
		Short: "Say which gate a request belongs to, and why",
		Long: "Say what serve would do with a request: its canonical host and path, the gate and what of it matched, a bypass, the\n" +
			"upstream, or why it is refused. Nothing is sent, and tokens are not looked at. The URL is taken as it is written.",
		Example: "  foyer explain GET https://tickets.example.com/events/final\n" +
			"  foyer explain POST /api/holds -H 'Host: tickets.example.com' --from 192.0.2.7",
		Args: exactly("METHOD", "URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, _, err := loadConfig(cmd)
			if err != nil {
				return err
			}
			found, err := explainRequest(cfg, args[0], args[1], headers, from)
			if err != nil {
				return err
			}
			if asJSON {
				encoder := json.NewEncoder(cmd.OutOrStdout())
				encoder.SetEscapeHTML(false)
				return encoder.Encode(found)
			}
			return found.tell(cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringArrayVarP(&headers, "header", "H", nil, "a header, as `'Name: value'`; may be repeated")
	cmd.Flags().StringVar(&from, "from", "127.0.0.1", "`address` that the request comes from")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return cmd
}

// explainRequest sends a request through the steps of the edge.
func explainRequest(cfg *config.Config, method, target string, headers []string, from string) (explained, error) {
	settings, err := explainSettings(cfg)
	if err != nil {
		return explained{}, err
	}
	r, malformed, err := readRequest(method, target, headers, from)
	if err != nil {
		return explained{}, misuse{err}
	}
	if malformed != nil {
		return explained{Method: method, Verdict: proxy.ExplainedRefused, Status: http.StatusBadRequest,
			Meaning: "it is no HTTP request: " + malformed.Error(), Client: from}, nil
	}
	found, err := proxy.Explain(settings, r)
	if err != nil {
		return explained{}, misuse{err}
	}
	return newExplained(cfg, method, found), nil
}

// explainSettings are the edge's, without anything behind them.
func explainSettings(cfg *config.Config) (proxy.Settings, error) {
	rooms := make([]room, len(cfg.Gates))
	for i, gate := range cfg.Gates {
		rooms[i].Gate = gate
	}
	gates, err := edgeGates(cfg, rooms, http.NotFoundHandler())
	settings := proxy.Settings{Gates: gates, TrustedProxies: cfg.Server.TrustedProxies, BodyBytes: int64(cfg.Server.Limits.BodyBytes)}
	if cfg.Origin != nil {
		settings.Always = webhookRoutes(cfg.Origin.Payment.Provider, http.NotFoundHandler())
	}
	return settings, err
}

// readRequest reads a request as the server does, from the text of its head, so that nothing of the URL is lost.
// malformed is what net/http refuses.
func readRequest(method, target string, headers []string, from string) (r *http.Request, malformed, err error) {
	addr, err := netip.ParseAddr(from)
	if err != nil {
		return nil, nil, fmt.Errorf("read --from: %w", err)
	}
	scheme, host := "http", "localhost"
	if before, rest, absolute := strings.Cut(target, "://"); absolute && !strings.ContainsAny(before, "/?") {
		scheme = strings.ToLower(before)
		end := strings.IndexAny(rest, "/?")
		if end < 0 {
			end = len(rest)
		}
		host, target = rest[:end], rest[end:]
		if !strings.HasPrefix(target, "/") {
			target = "/" + target
		}
	}
	if scheme != "http" && scheme != "https" {
		return nil, nil, fmt.Errorf("read URL: the scheme is %q, not http or https", scheme)
	}
	var head strings.Builder
	fmt.Fprintf(&head, "%s %s HTTP/1.1\r\n", method, target)
	for _, header := range headers {
		name, value, ok := strings.Cut(header, ":")
		if !ok || !httpguts.ValidHeaderFieldName(name) || strings.ContainsAny(value, "\r\n") {
			return nil, nil, fmt.Errorf("read -H %q: a header is one line, 'Name: value', such as 'Host: tickets.example.com'", header)
		}
		if strings.EqualFold(name, "Host") {
			host = strings.TrimSpace(value)
			continue
		}
		head.WriteString(header + "\r\n")
	}
	fmt.Fprintf(&head, "Host: %s\r\n\r\n", host)
	if strings.Count(head.String(), "\n") != strings.Count(head.String(), "\r\n") || strings.Contains(method+target+host, "\r") {
		return nil, nil, fmt.Errorf("read request: it holds a line break")
	}
	r, malformed = http.ReadRequest(bufio.NewReader(strings.NewReader(head.String())))
	if malformed != nil {
		return nil, malformed, nil
	}
	r.RemoteAddr = net.JoinHostPort(addr.String(), "0")
	if scheme == "https" {
		r.TLS = &tls.ConnectionState{}
	}
	return r, nil, nil
}

// newExplained puts what the edge says into words.
func newExplained(cfg *config.Config, method string, found proxy.Explanation) explained {
	told := explained{
		Method: method, Verdict: found.Verdict, Status: found.Status, Host: found.Host, Path: found.Path,
		Client: found.Client.String(), Trusted: found.Trusted, Secure: found.Secure,
		Gate: found.Gate, By: found.By, Bypass: found.Bypass, Cookie: found.Cookie,
	}
	for _, miss := range found.Passed {
		told.Passed = append(told.Passed, miss.Gate+": "+miss.Why)
	}
	var gate config.Gate
	for _, g := range cfg.Gates {
		if g.Name == found.Gate {
			gate = g
		}
	}
	switch found.Verdict {
	case proxy.ExplainedGated:
		told.Meaning = "needs a slot: " + admissionText(gate)
	case proxy.ExplainedSpeculative:
		told.Meaning = "needs a slot, and takes no place in line: a browser asks by itself"
	case proxy.ExplainedBypass:
		told.Meaning = fmt.Sprintf("passes uncounted, by rule %d of bypass", found.Bypass)
	case proxy.ExplainedUngated:
		told.Meaning = "reaches the embedded shop, which asks for a slot only where it is needed"
	case proxy.ExplainedAlways:
		told.Meaning, told.Upstream = "is a webhook, which no gate guards", upstreamName(config.UpstreamOrigin)
	case proxy.ExplainedOwn:
		told.Meaning = "is foyer's own endpoint " + found.Endpoint
	default:
		told.Meaning = fmt.Sprintf("is answered with %d: %s", found.Status, found.Reason)
	}
	if found.By != "" {
		told.Upstream = upstreamName(gate.Upstream) + ", as " + found.Sent
	}
	return told
}

// tell writes it for people.
func (e explained) tell(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(table, "%s\t%s\n", name, value)
		}
	}
	row(e.Verdict, e.Meaning)
	row("host", e.Host)
	row("path", e.Path)
	if e.Gate != "" {
		row("gate", strings.TrimSuffix(e.Gate+", by "+e.By, ", by "))
	}
	for _, miss := range e.Passed {
		row("not", miss)
	}
	row("upstream", e.Upstream)
	row("cookie", e.Cookie)
	by := "HTTP"
	if e.Secure {
		by = "HTTPS"
	}
	row("client", e.Client+", "+by)
	return table.Flush()
}
