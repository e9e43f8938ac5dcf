package redisstore

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Mend is what helps where Redis does not answer a ping; empty where nothing is known to.
func Mend(err error) string {
	switch {
	case err == nil:
		return ""
	case redis.IsAuthError(err), redis.IsPermissionError(err):
		return "see that user and password of its URL are right"
	case redis.IsLoadingError(err), redis.IsMaxClientsError(err):
		return "it is there and takes nothing yet: foyer goes on asking"
	case strings.Contains(err.Error(), "DB index"):
		return "name a database that is there, such as /0, at the end of its URL"
	case errors.As(err, new(net.Error)), errors.Is(err, context.DeadlineExceeded):
		return "see that Redis runs, and that host and port of its URL are right, and rediss:// where it speaks TLS"
	}
	return ""
}
