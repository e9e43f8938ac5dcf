package services

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
)

// RedisClient connects to a Redis until the test's end, for tests outside store/, which know no driver. It repeats nothing
// by itself. With around set, each call of a script goes through it, with the script's hash; its error is the call's.
func RedisClient(t testing.TB, url string, around func(hash string, call func() error) error) redis.UniversalClient {
	t.Helper()
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	options.MaxRetries, options.PoolSize = -1, 2
	client := redis.NewClient(options)
	if around != nil {
		client.AddHook(scriptHook(around))
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// scriptHook is a hook around the calls of scripts.
type scriptHook func(hash string, call func() error) error

var _ redis.Hook = scriptHook(nil)

// DialHook implements [redis.Hook].
func (scriptHook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessPipelineHook implements [redis.Hook].
func (scriptHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// ProcessHook implements [redis.Hook].
func (around scriptHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		args := cmd.Args()
		if cmd.Name() != "evalsha" || len(args) < 2 {
			return next(ctx, cmd)
		}
		hash, _ := args[1].(string)
		err := around(hash, func() error { return next(ctx, cmd) })
		if err != nil && cmd.Err() == nil {
			cmd.SetErr(err)
		}
		return err
	}
}
