package proxy

import (
	"strings"
	"testing"
)

func TestReadChange_NamesTheFieldAndWhatItTakes(t *testing.T) {
	for body, want := range map[string]string{
		`{"kapacity":80}`:                 `there is no field "kapacity": a gate takes mode, capacity, admit_rate and stock`,
		`{"capacity":"80"}`:               "capacity is a whole number from 1 to 10000000, not string",
		`{"capacity":1.5}`:                "capacity is a whole number from 1 to 10000000, not number 1.5",
		`{"capacity":0}`:                  "capacity is a whole number from 1 to 10000000",
		`{"admit_rate":[]}`:               "admit_rate is a whole number from 0 to 2147483647, not array",
		`{"admit_rate":-1}`:               "admit_rate is a whole number from 0",
		`{"stock":true}`:                  "stock is a whole number from 0 on, not bool",
		`{"stock":99999999999999999999}`:  "stock is a whole number from 0 on, not number 99999999999999999999",
		`{"mode":1}`:                      "mode is one of on, off, paused, shadow, not number",
		`{"mode":"maybe"}`:                "mode is one of on, off, paused, shadow",
		``:                                "the body is not one JSON object, such as {",
		`[1]`:                             "the body is not one JSON object, such as {",
		`capacity=80`:                     "the body is not one JSON object, such as {",
		`{"capacity":80`:                  "the body is not one JSON object, such as {",
		`{"capacity":80} {"capacity":81}`: "there is something after the object",
	} {
		_, _, err := readChange(strings.NewReader(body))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "json:") {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}
