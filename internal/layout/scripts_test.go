package layout

import "testing"

func TestScripts_SayWhatTheyTakeAndReturn(t *testing.T) {
	const header = "-- take: takes units.\n-- KEYS[1] the counter\n-- ARGV[1] how many\n-- Returns what is left.\n"
	const listed = "#!lua\n-- take: takes units.\n-- KEYS: 1 the counter. ARGV: 1-3 as ever; 4 how many.\n-- Returns what is left.\n"
	const body = "\nreturn redis.call('DECRBY', KEYS[1], ARGV[1])\n"
	runCases(t, checkScripts, []offending{
		{"each said", tree("store/take.lua", header+body), nil},
		{"said in lists", tree("store/take.lua", listed+body+"call(ARGV[2], ARGV[3], ARGV[4], KEYS[#KEYS])"), nil},
		{"beyond the list", tree("store/take.lua", listed+body+"call(ARGV[5], KEYS[2])"),
			[]string{"store/take.lua: ARGV[5]", "store/take.lua: KEYS[2]"}},
		{"no header", tree("store/take.lua", "#!lua"+body), []string{"store/take.lua: no header"}},
		{"a key and an argument unsaid, each once", tree("store/take.lua", header+body+"call(KEYS[2], ARGV[12], KEYS[2])"),
			[]string{"store/take.lua: KEYS[2]", "store/take.lua: ARGV[12]"}},
		{"keys unsaid that are computed", tree("store/take.lua", "-- take: takes units. Returns nothing.\ncall(KEYS[i])\n"),
			[]string{"store/take.lua: what KEYS is"}},
		{"the answer unsaid", tree("store/take.lua", "-- take: takes units. KEYS[1], ARGV[1]\n"+body),
			[]string{"store/take.lua: returns"}},
	})
}
