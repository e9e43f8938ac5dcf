package layout

import "testing"

func TestScripts_SayWhatTheyTakeAndReturn(t *testing.T) {
	const header = "-- take: takes units.\n-- KEYS[1] the counter\n-- ARGV[1] how many\n-- Returns what is left.\n"
	const body = "\nreturn redis.call('DECRBY', KEYS[1], ARGV[1])\n"
	runCases(t, checkScripts, []offending{
		{"all said", tree("store/take.lua", header+body), nil},
		{"no header", tree("store/take.lua", body), []string{"store/take.lua: no header"}},
		{"a key and an argument unsaid, each once", tree("store/take.lua", header+body+"call(KEYS[2], ARGV[12], KEYS[2])"),
			[]string{"store/take.lua: KEYS[2]", "store/take.lua: ARGV[12]"}},
		{"the answer unsaid", tree("store/take.lua", "-- take: takes units. KEYS[1], ARGV[1]\n"+body),
			[]string{"store/take.lua: returns"}},
	})
}
