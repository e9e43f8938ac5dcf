package loadtest

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

var sample = Report{
	Title: "a bench <of> strategies",
	About: []string{"2 cores"},
	Tables: []Table{{
		Title: "Strategies", Note: "500 buyers, 100 tickets", Columns: []string{"strategy", "sold", "oversold"},
		Rows:   [][]string{{"naive", "500", "400"}, {"group_commit", "100", "0"}},
		Charts: []Chart{{Title: "sold", Bars: []Bar{{Label: "naive", Value: 500, Bad: true}, {Label: "group_commit", Value: 100}}}},
	}},
}

func TestReport_TextAlignsItsColumns(t *testing.T) {
	var text strings.Builder
	if err := sample.Text(&text); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"  strategy      sold  oversold\n",
		"  ────────────────────────────\n",
		"  naive          500       400\n",
		"  group_commit   100         0\n",
	} {
		if !strings.Contains(text.String(), line) {
			t.Errorf("no line %q in\n%s", line, text.String())
		}
	}
}

func TestReport_HTMLIsOneFileAndEscapes(t *testing.T) {
	var page strings.Builder
	if err := sample.HTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, foreign := range []string{"<of>", "http://", "https://", "<script", "<link"} {
		if strings.Contains(page.String(), foreign) {
			t.Errorf("the page contains %q", foreign)
		}
	}
	svg := page.String()[strings.Index(page.String(), "<svg"):]
	svg = svg[:strings.Index(svg, "</svg>")+len("</svg>")]
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the chart is not well-formed: %v\n%s", err, svg)
		}
	}
}

func TestChart_DrawsTheLongestBarOverTheWholeWidth(t *testing.T) {
	drawn := sample.Tables[0].Charts[0].Drawn()
	if drawn[0].Length != barLongest || drawn[1].Length != barLongest/5 {
		t.Errorf("lengths %v and %v, want %v and %v", drawn[0].Length, drawn[1].Length, barLongest, barLongest/5)
	}
	if empty := (Chart{Bars: []Bar{{Value: 0}}}).Drawn(); empty[0].Length != 1 {
		t.Errorf("a chart of nothing draws a bar of %v", empty[0].Length)
	}
}

func TestNumber_GroupsThousands(t *testing.T) {
	for value, want := range map[float64]string{0: "0", 1.5: "1.50", 142: "142", 11200: "11\u2009200", 1234567: "1\u2009234\u2009567"} {
		if got := number(value); got != want {
			t.Errorf("number(%v) = %q, want %q", value, got, want)
		}
	}
}
