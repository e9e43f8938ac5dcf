package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"foyer/loadtest"
)

// loadtestSettings are the flags of foyer loadtest.
type loadtestSettings struct {
	gate, upstream     string
	admins             []string
	tokenVariable      string
	capacity, visitors int
	rate               float64
	mix                loadtest.Mix
	idle, most         time.Duration
	anywhere, asJSON   bool
}

func newLoadtest() *cobra.Command {
	var s loadtestSettings
	cmd := &cobra.Command{
		Use:   "loadtest URL...",
		Short: "Send visitors to a page behind a gate of a running edge, and look whether the promises hold",
		Long: "Send visitors to a page, at a rate that does not wait for answers: they queue, poll as told, sleep, open a second tab,\n" +
			"give up, vanish, look around, buy and leave. With several URLs, one for each replica, a visitor who gets no answer\n" +
			"goes on at the next. Reports how many were inside at once, who was passed over, whose place was lost, how long\n" +
			"slots were idle while somebody waited, and the waiting times; the exit code is 1 if a promise was broken.\n\n" +
			"To have those inside counted, make --upstream the gate's upstream. Load goes to loopback addresses only, unless\n" +
			"--anywhere says that the target is meant.",
		Example: "  foyer loadtest http://127.0.0.1:8080/events/final --gate final --upstream 127.0.0.1:3000 \\\n" +
			"    --admin http://127.0.0.1:9090 --visitors 2000 --rate 50 --leavers 0.3",
		Args: atLeastOne("URL"),
		RunE: func(cmd *cobra.Command, pages []string) error {
			return runLoadtest(cmd.Context(), pages, s, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	s.declare(cmd)
	return cmd
}

// declare declares the flags.
func (s *loadtestSettings) declare(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&s.gate, "gate", "default", "`name` of the gate")
	flags.StringVar(&s.upstream, "upstream", "", "serve an upstream at this `address` and count who is inside")
	flags.StringSliceVar(&s.admins, "admin", nil, "`URL` of a replica's admin listener, to look at the slots; may be repeated")
	flags.StringVar(&s.tokenVariable, "admin-token-env", "FOYER_ADMIN_TOKEN", "environment `variable` with the token of the admin API")
	flags.IntVar(&s.capacity, "capacity", 0, "K of the gate; 0: what --admin says")
	flags.IntVar(&s.visitors, "visitors", 200, "how many visitors come")
	flags.Float64Var(&s.rate, "rate", 20, "how many arrive a second")
	flags.Float64Var(&s.mix.Leavers, "leavers", 0.3, "share who go without a word, in line or inside")
	flags.Float64Var(&s.mix.Sleepers, "sleepers", 0.1, "share who are silent for a while in line")
	flags.Float64Var(&s.mix.Copiers, "copiers", 0.1, "share who ask from a second tab as well")
	flags.Float64Var(&s.mix.Buyers, "buyers", 0, "share who buy a unit of --event")
	flags.StringVar(&s.mix.Event, "event", "", "`event` of the embedded shop that buyers buy")
	flags.DurationVar(&s.mix.Stay, "stay", 5*time.Second, "time inside, on average")
	flags.IntVar(&s.mix.Pages, "pages", 4, "pages asked for inside, after the first")
	flags.DurationVar(&s.mix.Sleep, "sleep", 5*time.Second, "how long sleepers are silent, on average")
	flags.DurationVar(&s.mix.Patience, "patience", -1, "how long visitors wait before they give up; negative: without end")
	flags.DurationVar(&s.idle, "idle", 2*time.Minute, "session.idle of the gate: who is silent for longer is not counted as inside")
	flags.DurationVar(&s.most, "for", 10*time.Minute, "how long the test lasts at most")
	flags.BoolVar(&s.anywhere, "anywhere", false, "send load beyond this machine; only to what is yours")
	flags.BoolVar(&s.asJSON, "json", false, "print the findings as JSON")
}

// target reads the pages' URLs: the replicas' base URLs, and the path that all of them have.
func (s *loadtestSettings) target(pages []string) (bases []string, path string, err error) {
	for _, page := range pages {
		parsed, err := url.Parse(page)
		if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
			return nil, "", misuse{fmt.Errorf("%q is no URL of a page, such as http://127.0.0.1:8080/sale", page)}
		}
		entry := parsed.RequestURI()
		if path != "" && entry != path {
			return nil, "", misuse{fmt.Errorf("%s and %s are two pages: replicas serve the same one", path, entry)}
		}
		path, bases = entry, append(bases, parsed.Scheme+"://"+parsed.Host)
	}
	return bases, path, nil
}

// check finds what is wrong with the flags.
func (s *loadtestSettings) check() error {
	switch {
	case s.visitors < 1, s.rate <= 0, s.most <= 0:
		return misuse{errors.New("--visitors, --rate and --for are above zero")}
	case s.mix.Buyers > 0 && s.mix.Event == "":
		return misuse{errors.New("--buyers needs --event")}
	}
	return nil
}

// runLoadtest sends the visitors and reports.
func runLoadtest(ctx context.Context, pages []string, s loadtestSettings, out, people io.Writer) error {
	bases, path, err := s.target(pages)
	if err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.most)
	defer cancel()
	transport := loadtest.NewTransport(loadtest.TransportSettings{Connections: s.visitors, Anywhere: s.anywhere})
	defer transport.CloseIdleConnections()
	for _, base := range bases { // a target that may not be had, or is not there, is said at once
		if err := loadtest.Warm(ctx, transport, base+"/_foyer/health", 1); err != nil {
			return fmt.Errorf("ask the edge: %w; name a page of a foyer that runs on this machine, or say --anywhere if another is meant", err)
		}
	}
	if err := s.find(ctx, bases[0], transport); err != nil {
		return err
	}
	load := s.load(bases, path, transport)
	serving, stop := context.WithCancel(ctx)
	defer stop()
	group, serving := errgroup.WithContext(serving)
	if s.upstream != "" {
		storefront := loadtest.NewStorefront(s.idle)
		load.Party.Meter = storefront.Meter
		listener, err := listen(ctx, "--upstream", s.upstream)
		if err != nil {
			return err
		}
		group.Go(func() error { return serveUntil(serving, plainServer(http.Handler(storefront)), listener, time.Second) })
	}
	if !s.asJSON {
		people = out
	}
	live := loadtest.Live{W: people, Terminal: isTerminal(people)}
	found := load.Run(serving, s.capacity, func(tally *loadtest.Tally) { live.Show(time.Now(), s.gauges(load, tally)) })
	stop()
	if err := group.Wait(); err != nil {
		return fmt.Errorf("serve the upstream: %w", err)
	}
	return s.tell(found, out, people)
}

// find looks for the gate, and for the admin listeners that were named: without them nothing would be counted.
func (s *loadtestSettings) find(ctx context.Context, base string, transport *http.Transport) error {
	for _, admin := range s.admins {
		if err := loadtest.Warm(ctx, transport, admin+"/livez", 1); err != nil {
			return fmt.Errorf("ask --admin %s: %w; name the address of server.admin, such as http://127.0.0.1:9090", admin, err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/_foyer/"+url.PathEscape(s.gate)+"/status", nil)
	if err != nil {
		return misuse{err}
	}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("ask for gate %s: %w", s.gate, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusNotFound {
		return misuse{fmt.Errorf("%s has no gate %q: name the one in front of the page with --gate", base, s.gate)}
	}
	return nil
}

// load is what the flags ask for.
func (s *loadtestSettings) load(bases []string, path string, transport http.RoundTripper) loadtest.Load {
	load := loadtest.Load{Guests: s.visitors, Rate: s.rate, Mix: s.mix, Party: loadtest.Party{
		Site:  loadtest.Site{Gate: s.gate, Entry: path, Transport: transport},
		Bases: bases, Judge: loadtest.NewJudge(),
	}}
	if len(s.admins) > 0 {
		load.Slots = &loadtest.Slots{Admins: s.admins, Gate: s.gate, Token: os.Getenv(s.tokenVariable)}
	}
	return load
}

// gauges are how the load test stands.
func (s *loadtestSettings) gauges(load loadtest.Load, tally *loadtest.Tally) []loadtest.Gauge {
	done := 0
	for _, n := range tally.Ends() {
		done += n
	}
	gauges := []loadtest.Gauge{{Label: "arrived", Value: tally.Arrived(), Of: s.visitors}, {Label: "done", Value: done, Of: s.visitors}}
	if load.Slots != nil {
		inside, waiting := load.Slots.Now()
		gauges = append(gauges, loadtest.Gauge{Label: "inside", Value: inside}, loadtest.Gauge{Label: "waiting", Value: waiting})
	}
	return gauges
}

// tell prints the findings; a broken promise is an error.
func (s *loadtestSettings) tell(found loadtest.Findings, out, people io.Writer) error {
	report := loadtest.Report{Title: found.Summary(), Tables: found.Tables()}
	if err := report.Text(people); err != nil {
		return err
	}
	if s.asJSON {
		if err := json.NewEncoder(out).Encode(found); err != nil {
			return err
		}
	}
	switch {
	case len(found.Broken()) > 0 && found.Failure != "":
		return fmt.Errorf("%s (the first: %s)", found.Summary(), found.Failure)
	case len(found.Broken()) > 0:
		return errors.New(found.Summary())
	case found.Ends[loadtest.Cut] == found.Guests:
		return errors.New("no visit came to its end: the time of --for was over before; give it more, or see that the gate lets people in")
	}
	return nil
}
