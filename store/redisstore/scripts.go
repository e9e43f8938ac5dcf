package redisstore

import (
	"embed"
	"strings"

	"github.com/redis/go-redis/v9"
)

//go:embed lua/*.lua
var sources embed.FS

// The scripts, one for each verb.
var (
	beginScript     = script("begin")
	configureScript = script("configure")
	changeScript    = script("change")
	joinScript      = script("join")
	syncScript      = script("sync")
	claimScript     = script("claim")
	renewScript     = script("renew")
	releaseScript   = script("release")
	resetScript     = script("reset")
	restoreScript   = script("restore")
	vouchScript     = script("vouch")
)

// script puts what all share behind the first line of a file, which must stay the first: it declares the script's flags.
func script(name string) *redis.Script { return redis.NewScript(whole(name)) }

// whole is a script as Redis gets it.
func whole(name string) string {
	flags, rest, _ := strings.Cut(source(name), "\n")
	return flags + "\n" + source("prelude") + source("slots") + source("line") + rest
}

func source(name string) string {
	text, err := sources.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}
