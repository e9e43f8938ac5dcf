package redisstore

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/redis/go-redis/v9"
)

// quiet keeps go-redis from writing to the standard error: what it says there it also returns, to callers that log it.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

func init() { redis.SetLogger(quiet{}) }

// Dial makes a client for a redis:// or rediss:// URL as the scripts need it: it never repeats a command by itself, since
// that is the caller's to decide, and it gives up soon. It does not reach for Redis yet.
// An error names no part of the URL, which may hold a password.
func Dial(address string) (redis.UniversalClient, error) {
	options, err := redis.ParseURL(address)
	if err != nil {
		var wrong *url.Error
		if errors.As(err, &wrong) {
			err = wrong.Err
		}
		return nil, fmt.Errorf("parse redis url: %w", err)
	}
	options.MaxRetries = -1
	options.ContextTimeoutEnabled = true
	options.DialTimeout = 500 * time.Millisecond
	options.DialerRetries = 1
	options.ReadTimeout = 250 * time.Millisecond
	options.WriteTimeout = 250 * time.Millisecond
	options.PoolTimeout = 300 * time.Millisecond
	return redis.NewClient(options), nil
}
