package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"time"
)

const (
	adminPatience = 5 * time.Second // for one answer of the admin listener
	maxAnswer     = 4 << 20         // of it, in bytes
)

// gateStatus is what the admin listener says of a gate, as far as the commands show it.
type gateStatus struct {
	Gate      string  `json:"gate"`
	Mode      string  `json:"mode"`
	Capacity  int     `json:"capacity"`
	AdmitRate int     `json:"admit_rate"`
	Active    int     `json:"active"`
	Offered   int     `json:"offered"`
	Leaving   int     `json:"leaving"`
	Waiting   int     `json:"waiting"`
	PerMinute float64 `json:"admitted_per_minute"`
	Store     string  `json:"store"`
}

// gateChange is what may be changed of a gate; nil keeps a value.
type gateChange struct {
	Mode      *string `json:"mode,omitempty"`
	Capacity  *int    `json:"capacity,omitempty"`
	AdmitRate *int    `json:"admit_rate,omitempty"`
}

// operator calls the admin listener of a running foyer, with the token of FOYER_ADMIN_TOKEN if that is set.
type operator struct{ base string }

// gates asks for all gates.
func (o operator) gates(ctx context.Context) (all []gateStatus, err error) {
	_, err = o.call(ctx, http.MethodGet, "/api/gates", nil, &all)
	return all, err
}

// gate asks for one gate; raw is the answer as it came.
func (o operator) gate(ctx context.Context, name string) (status gateStatus, raw []byte, err error) {
	raw, err = o.call(ctx, http.MethodGet, "/api/gates/"+url.PathEscape(name), nil, &status)
	return status, raw, err
}

// change changes one gate, on every replica, and answers with how it stands then.
func (o operator) change(ctx context.Context, name string, change gateChange) (status gateStatus, raw []byte, err error) {
	raw, err = o.call(ctx, http.MethodPatch, "/api/gates/"+url.PathEscape(name), change, &status)
	return status, raw, err
}

// call makes one call and reads its answer.
func (o operator) call(ctx context.Context, method, path string, body, into any) (raw []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, adminPatience)
	defer cancel()
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("write call: %w", err)
		}
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, o.base+path, sent)
	if err != nil {
		return nil, misuse{err}
	}
	request.Header.Set("Content-Type", "application/json")
	if token := os.Getenv("FOYER_ADMIN_TOKEN"); token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", o.base, err)
	}
	defer answer.Body.Close()
	if raw, err = io.ReadAll(io.LimitReader(answer.Body, maxAnswer)); err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", o.base, err)
	}
	if answer.StatusCode != http.StatusOK {
		return nil, o.refused(answer, raw)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", o.base, err)
	}
	return raw, nil
}

// refused is why a call was not done: a misuse where the caller asked for what there is not.
func (o operator) refused(answer *http.Response, body []byte) error {
	var problem struct{ Detail string }
	_ = json.Unmarshal(body, &problem) // what is no problem has no detail
	err := fmt.Errorf("ask %s: it answers %s", o.base, answer.Status)
	switch {
	case answer.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%w: the admin token is read from FOYER_ADMIN_TOKEN", err)
	case problem.Detail == "":
		return err
	case answer.StatusCode == http.StatusNotFound:
		return misuse{fmt.Errorf("%s: %s at %s; foyer status lists the gates", path.Base(answer.Request.URL.Path), problem.Detail, o.base)}
	case answer.StatusCode == http.StatusBadRequest:
		return misuse{errors.New(problem.Detail)}
	}
	return fmt.Errorf("%w: %s", err, problem.Detail)
}
