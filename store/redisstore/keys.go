package redisstore

// names are the keys that every script gets, in the order of lua/prelude.lua.
var names = []string{
	"meta", "slots", "ends", "missed", "missed_by", "near", "near_last", "far", "far_last", "kept", "kept_last",
	"ended", "held", "log", "replicas", "t1", "t2",
}

// keys are a gate's keys in Redis, all in one hash slot.
type keys struct {
	gate string   // <prefix>{<gate>}:
	all  []string // of names
}

func newKeys(prefix, gate string) keys {
	k := keys{gate: prefix + "{" + gate + "}:"}
	for _, name := range names {
		k.all = append(k.all, k.gate+name)
	}
	return k
}

// join are the keys of a Join with a request id.
func (k keys) join(id string) []string {
	return append(k.all[:len(k.all):len(k.all)], k.gate+"join:"+id)
}
