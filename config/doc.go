// Package config reads foyer.yaml: plain values, defaults, and every problem at once with its line.
//
// [Load] and [Parse] answer with a [Config] that needs no further check, or with a [Report] that names all that is
// wrong with the file, each problem with its position, an excerpt of the source and the mend. They keep no state and
// start nothing, so that a running server can read a changed file as often as it likes and go on with the old values
// when the new ones are wrong.
//
// # From text to values
//
//	text ─parse─▶ YAML nodes ─${NAME}─▶ Go values over defaults ─validate─▶ Config
//	      │                    │          │                         │
//	      └────────────────────┴──────────┴─────────────────────────┴─────▶ Report
//
// Each step goes on after a mistake. A line that is not YAML is left out and the rest is read all the same; a value
// of the wrong kind keeps its default and takes no part in later checks, so that one mistake is told once.
//
// # The environment
//
// In values, never in keys, ${NAME} is replaced by an environment variable and ${NAME:-default} by the variable or,
// where it is unset or empty, by the default; $${ is a literal ${. The replacement happens in parsed scalars, so what
// a variable holds is never read as YAML: it can become a number or a duration, but not a second key. Unlike what is
// written in the file itself, what came from the environment is never shown in a problem.
//
// Anchors, aliases, merge keys and tags are refused: a gate's rules are to be read where the gate is.
package config
