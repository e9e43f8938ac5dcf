// Package services starts real Postgres and Redis servers from the binaries of Debian's packages, on free loopback
// ports, with their data in a temporary folder, and ends them.
//
// Tests ask for what they need and get it, or fail with the command that installs it; they never skip:
//
//   - [Postgres] and [Redis] share one server among all tests of the process (or of the whole run, where the
//     environment variables [PostgresVariable] and [RedisVariable] name one) and give each test a schema or a key
//     prefix of its own.
//   - [PrivatePostgres] and [PrivateRedis] give a test a server of its own, to kill, freeze and restart.
//
// [StripeMock] builds and starts Stripe's own server for tests, from the module proxy.
//
// [StartPostgres] and [StartRedis] do the same outside tests. The program in the folder run starts both, runs a
// command with the variables set, and stops them.
//
// # Lifetime
//
// No server outlives the process that started it, also when that is killed with -9: each has a watcher, a shell that
// reads from a pipe whose other end this process holds. At the end of the pipe the watcher kills the server and
// removes its folder. (A parent-death signal would not do: in Go it follows the thread that forked, not the process.)
//
// # Accounts
//
// Postgres refuses to run as root. Root runs it as the user postgres or, without one, nobody; everybody else runs
// it as oneself.
package services
