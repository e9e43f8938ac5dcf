// Command run starts a Postgres and a Redis for tests, runs a command with the environment variables that name them,
// stops them and exits as the command did:
//
//	go run ./internal/services/run -- go test ./...
//
// A server that the environment already names is used as it is. SIGINT and SIGTERM are passed on to the command.
package main
