package assertion

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	fetchTimeout = 5 * time.Second
	freshFor     = 10 * time.Minute // then the set is fetched again, so that a key that was dropped stops counting
	fetchEvery   = 10 * time.Second // at most, whatever key ids are made up
	maxKeySet    = 64 << 10
)

// keySet is foyer's public keys, fetched when they are first needed, when they have aged, and when a new one signs.
type keySet struct {
	mu      sync.Mutex // held during a fetch: who needs the same keys waits for them
	keys    map[string]ed25519.PublicKey
	fetched time.Time // when it last worked
	tried   time.Time
}

// get is the key with this id. Where the set cannot be fetched, the last one counts on.
func (s *keySet) get(ctx context.Context, client *http.Client, address, id string) (ed25519.PublicKey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	known := s.keys[id] != nil
	if (!known || now.Sub(s.fetched) > freshFor) && (s.tried.IsZero() || now.Sub(s.tried) > fetchEvery) {
		s.tried = now
		// Others wait for this fetch, so it must not end with the request that happened to come first.
		keys, err := fetchKeys(context.WithoutCancel(ctx), client, address)
		if err == nil {
			s.keys, s.fetched = keys, now
		} else if !known {
			return nil, err
		}
	}
	if key := s.keys[id]; key != nil {
		return key, nil
	}
	return nil, errKey
}

// fetchKeys reads the Ed25519 keys of a JWKS (RFC 8037, section 2). Others in it are not for this.
func fetchKeys(ctx context.Context, client *http.Client, address string) (map[string]ed25519.PublicKey, error) {
	if client == nil {
		client = http.DefaultClient
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("fetch keys: %w", err)
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("fetch keys: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetch keys: %s", answer.Status)
	}
	var set struct {
		Keys []struct{ Kty, Crv, Kid, X string }
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxKeySet)).Decode(&set); err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	keys := map[string]ed25519.PublicKey{}
	for _, k := range set.Keys {
		x, err := base64.RawURLEncoding.DecodeString(k.X)
		if k.Kty == "OKP" && k.Crv == "Ed25519" && k.Kid != "" && err == nil && len(x) == ed25519.PublicKeySize {
			keys[k.Kid] = x
		}
	}
	return keys, nil
}
