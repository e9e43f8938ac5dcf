// Package soak breaks what can break, again and again, while thousands of visitors queue at three replicas, and counts
// from the outside whether the promises about the line hold: nobody too many inside, nobody passed over, no place lost,
// no slot idle.
//
// The replicas are the program itself, each a process of its own; the Redis is a real one, and the link that is cut runs
// through toxiproxy. The tests run half a minute of it; five minutes with 5,000 visitors are
//
//	make soak
package soak
