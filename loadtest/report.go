package loadtest

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"unicode/utf8"
)

//go:embed report.html
var reportPage string

// reportTemplate is the HTML file of a report: one file, nothing loaded from elsewhere.
var reportTemplate = template.Must(template.New("report").Parse(reportPage))

// Report is results as people read them. What programs read is the results themselves, as JSON.
type Report struct {
	Title  string
	About  []string // where and with what it was measured, one fact a line
	Tables []Table
}

// Table is one set of results.
type Table struct {
	Title   string
	Note    string // what is counted, and how
	Columns []string
	Rows    [][]string // the first column is the name, flush left; the others are flush right
	Charts  []Chart
}

// Chart shows one column as bars.
type Chart struct {
	Title string
	Bars  []Bar
}

// Bar is one value of a chart. Bad marks what should not be.
type Bar struct {
	Label string
	Value float64
	Bad   bool
}

// Text writes the report for a terminal.
func (r Report) Text(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n", r.Title)
	for _, fact := range r.About {
		fmt.Fprintf(&text, "  %s\n", fact)
	}
	for _, table := range r.Tables {
		table.text(&text)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// HTML writes the report as one self-contained file.
func (r Report) HTML(w io.Writer) error { return reportTemplate.Execute(w, r) }

// Text writes the table for a terminal.
func (t Table) Text(w io.Writer) error {
	var text strings.Builder
	t.text(&text)
	_, err := io.WriteString(w, text.String())
	return err
}

// text writes the table with columns as wide as their widest cell.
func (t Table) text(text *strings.Builder) {
	widths := make([]int, len(t.Columns))
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	fmt.Fprintf(text, "\n%s\n", t.Title)
	if t.Note != "" {
		fmt.Fprintf(text, "  %s\n", t.Note)
	}
	for n, row := range append([][]string{t.Columns}, t.Rows...) {
		text.WriteString(" ")
		for i, cell := range row {
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				text.WriteString(" " + cell + gap)
			} else {
				text.WriteString("  " + gap + cell)
			}
		}
		text.WriteString("\n")
		if n == 0 {
			total := 0
			for _, width := range widths {
				total += width + 2
			}
			text.WriteString("  " + strings.Repeat("─", total-2) + "\n")
		}
	}
}

// Geometry of a chart, in SVG units.
const (
	barHeight  = 22
	barGap     = 6
	barLabel   = 150
	barLongest = 430
	chartWidth = 680
)

// drawnBar is a bar with its place in the picture.
type drawnBar struct {
	Bar
	Y, TextY int
	Length   float64
	TextX    float64
	Text     string
}

// Drawn is the bars with their places; the longest spans the width.
func (c Chart) Drawn() []drawnBar {
	longest := 0.0
	for _, bar := range c.Bars {
		longest = max(longest, bar.Value)
	}
	drawn := make([]drawnBar, len(c.Bars))
	for i, bar := range c.Bars {
		length := 1.0
		if longest > 0 {
			length = max(1, barLongest*bar.Value/longest)
		}
		y := i * (barHeight + barGap)
		drawn[i] = drawnBar{Bar: bar, Y: y, TextY: y + 16, Length: length, TextX: barLabel + length + 6, Text: number(bar.Value)}
	}
	return drawn
}

// Height of the picture.
func (c Chart) Height() int { return max(1, len(c.Bars)*(barHeight+barGap)) }

// Width of the picture.
func (c Chart) Width() int { return chartWidth }

// LabelX is where bars begin.
func (c Chart) LabelX() int { return barLabel }

// BarHeight is how thick a bar is.
func (c Chart) BarHeight() int { return barHeight }

// number writes a value with a thin space between thousands, and decimals only below ten.
func number(value float64) string {
	if value != float64(int64(value)) && value < 10 {
		return fmt.Sprintf("%.2f", value)
	}
	digits := fmt.Sprintf("%.0f", value)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "\u2009" + digits[i:]
	}
	return digits
}
