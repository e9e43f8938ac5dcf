package loadtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"strconv"
	"time"
)

// Place is where a visitor stands after an answer of the edge.
type Place struct {
	Inside   bool          // the answer came from behind the gate
	Refused  string        // the problem type by which the gate turned the visitor away, without "urn:foyer:"
	State    string        // of the status object: waiting, offered, admitted …
	Ticket   uint64        //
	Position int           // 1 = next
	Again    time.Duration // when to ask again
	Code     int           // HTTP status
	AsOf     time.Time     // what the gate judged by; zero where it said nothing
	Reason   string        // why the line stands still, if it does
	Visitor  string        // who the gate says it is, from behind it: only a Storefront tells
	At       time.Time     // when the request was behind the gate, likewise
}

// Site is where a crowd goes.
type Site struct {
	Base  string // "http://127.0.0.1:8080"
	Gate  string // name of the gate
	Entry string // path of a page behind it
	// Transport is shared by the crowd.
	Transport http.RoundTripper
	// Header, if set, goes with every request.
	Header http.Header
	// Latency, if set, takes the time of every request.
	Latency *Latency
}

// Visitor is one browser or app. It is used by one goroutine at a time.
type Visitor struct {
	site   Site
	client *http.Client
}

// NewVisitor makes a visitor with an empty cookie jar. It does not follow redirects: the edge sends none.
func NewVisitor(site Site) *Visitor {
	jar, _ := cookiejar.New(nil) // fails only for a faulty public suffix list
	return &Visitor{site: site, client: &http.Client{
		Transport:     site.Transport,
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Arrive asks for the page behind the gate; for somebody with an offer that claims it.
func (v *Visitor) Arrive(ctx context.Context) (Place, error) {
	answer, err := v.send(ctx, http.MethodGet, v.site.Entry, nil, nil)
	if err != nil {
		return Place{}, err
	}
	return answer.place(), nil
}

// Poll asks the gate for the visitor's place.
func (v *Visitor) Poll(ctx context.Context) (Place, error) {
	answer, err := v.send(ctx, http.MethodGet, "/_foyer/"+v.site.Gate+"/status", nil, nil)
	if err != nil {
		return Place{}, err
	}
	if answer.code != http.StatusOK {
		return answer.place(), nil
	}
	var status statusObject
	if err := json.Unmarshal(answer.body, &status); err != nil {
		return Place{}, fmt.Errorf("read the status: %w", err)
	}
	return status.place(answer.code), nil
}

// Enter arrives and polls as told until the visitor is inside or turned away, or the patience runs out: then the place
// is the last one seen. A negative patience never ends.
func (v *Visitor) Enter(ctx context.Context, patience time.Duration) (Place, error) {
	deadline := time.Now().Add(patience)
	place, err := v.Arrive(ctx)
	for err == nil && !place.Inside && place.Refused == "" {
		if patience >= 0 && time.Now().Add(place.Again).After(deadline) {
			return place, pause(ctx, time.Until(deadline))
		}
		if err = pause(ctx, place.Again); err != nil {
			break
		}
		if place, err = v.Poll(ctx); err != nil {
			break
		}
		switch place.State {
		case "offered", "admitted", "ended", "no-ticket":
			place, err = v.Arrive(ctx)
		}
	}
	return place, err
}

// Leave gives the place or the slot back.
func (v *Visitor) Leave(ctx context.Context) error {
	answer, err := v.send(ctx, http.MethodPost, "/_foyer/"+v.site.Gate+"/leave", nil, nil)
	if err == nil && answer.code != http.StatusNoContent {
		err = fmt.Errorf("leave gate %s: status %d", v.site.Gate, answer.code)
	}
	return err
}

// answer is a response read to its end.
type answer struct {
	code   int
	header http.Header
	body   []byte
}

// send makes one request; a body is sent as JSON.
func (v *Visitor) send(ctx context.Context, method, path string, header http.Header, body any) (answer, error) {
	var payload io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return answer{}, fmt.Errorf("encode the body for %s: %w", path, err)
		}
		payload = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, v.site.Base+path, payload)
	if err != nil {
		return answer{}, fmt.Errorf("ask for %s: %w", path, err)
	}
	maps.Copy(request.Header, v.site.Header)
	maps.Copy(request.Header, header)
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	started := time.Now()
	response, err := v.client.Do(request)
	if err != nil {
		return answer{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return answer{}, fmt.Errorf("read the answer to %s %s: %w", method, path, err)
	}
	if v.site.Latency != nil {
		v.site.Latency.Record(time.Since(started))
	}
	return answer{code: response.StatusCode, header: response.Header, body: text}, nil
}

// retryAfter is the answer's Retry-After, or the fallback.
func (a answer) retryAfter(fallback time.Duration) time.Duration {
	if seconds, err := strconv.Atoi(a.header.Get("Retry-After")); err == nil && seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	return fallback
}

// pause waits, unless ctx ends before.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
