package services

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// redisSettings are those of every server; what the caller gives comes after them and wins.
var redisSettings = []string{
	"--bind", "127.0.0.1",
	"--save", "", // empty after a restart, as long as the caller says nothing else
	"--appendonly", "no",
	"--maxmemory-policy", "noeviction",
}

// RedisServer is a Redis of one's own. It keeps nothing on disk unless it was told otherwise.
type RedisServer struct {
	process *process
	port    int
	argv    []string
}

// StartRedis starts a server with the given further arguments ("--appendonly", "yes"). It returns when the server
// answers; the context bounds the start only. An error says what to install where that is what is missing. The caller
// must call Close.
func StartRedis(ctx context.Context, arguments ...string) (*RedisServer, error) {
	redis, err := pathBinary("redis-server")
	if err != nil {
		return nil, err
	}
	p, err := newProcess("redis", nil)
	if err != nil {
		return nil, err
	}
	s := &RedisServer{process: p}
	s.argv = append([]string{redis, "--dir", p.dir}, redisSettings...)
	s.argv = append(s.argv, arguments...)
	err = p.startOnFreePort(func(port int) error {
		s.port = port
		return s.start(ctx)
	})
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return s, nil
}

// URL is where the server listens, with its database 0.
func (s *RedisServer) URL() string { return fmt.Sprintf("redis://%s/0", loopback(s.port)) }

// Kill ends the server as a crash does (SIGKILL).
func (s *RedisServer) Kill() error { return s.process.kill() }

// Freeze stops the server where it stands: connections stay open and get no answer until Thaw.
func (s *RedisServer) Freeze() error { return s.process.freeze() }

// Thaw lets a frozen server go on.
func (s *RedisServer) Thaw() error { return s.process.thaw() }

// Stop shuts the server down in order; it saves what its settings say.
func (s *RedisServer) Stop() error { return s.process.stop(syscall.SIGTERM) }

// Restart starts the server on the same port and folder, after stopping it if it still runs.
func (s *RedisServer) Restart() error {
	if err := s.Stop(); err != nil {
		return err
	}
	return s.start(context.Background())
}

// Close ends the server and removes its folder.
func (s *RedisServer) Close() error { return s.process.close() }

func (s *RedisServer) start(ctx context.Context) error {
	if err := s.process.start(append(s.argv, "--port", strconv.Itoa(s.port))...); err != nil {
		return err
	}
	return s.process.await(ctx, func(context.Context) error { return ping(loopback(s.port)) })
}

// ping asks a Redis for a sign of life. One that still loads its data answers with an error.
func ping(address string) error {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		return err
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return err
	}
	if answer = strings.TrimSpace(answer); answer != "+PONG" {
		return fmt.Errorf("ping: %s", answer)
	}
	return nil
}
