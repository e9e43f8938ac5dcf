package proxy

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/language"
)

// policy is the page's Content-Security-Policy: nothing but its own script and style, and pictures of the site itself.
const policy = "default-src 'none'; script-src 'nonce-%[1]s'; style-src 'nonce-%[1]s'; img-src 'self' data:; " +
	"font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed pages
var files embed.FS

var (
	builtIn   = template.Must(template.ParseFS(files, "pages/waiting.html"))
	languages = readPhrases()
)

// phrases are the words of the built-in page in one language.
type phrases map[string]string

// PageData is what a template of a waiting page gets.
type PageData struct {
	Gate, Title string
	Lang        string
	Kind        string // the type of the answer: waiting, lobby, paused, full, closed, sold-out, bad-gateway …
	State       string // of the visitor; "" where no room has judged
	Position    int    // 1 = next; 0: none is known
	Ahead       int
	Waiting     int
	EtaLow      int // minutes, rounded up; both 0 while unknown
	EtaHigh     int
	OpensAt     string // RFC 3339; "" once open
	Reason      string // for people; mostly ""
	Sent        bool   // the request would have changed something: say that nothing was sent
	Live        bool   // it will change by itself: poll StatusURL
	StatusURL   string
	LeaveURL    string
	PollAfterMS int64
	Nonce       template.HTMLAttr // nonce="…", for script and style elements
	Phrases     phrases
}

// T is a phrase of the page's language.
func (d PageData) T(key string) string { return d.Phrases[key] }

// Heading is what the page says first.
func (d PageData) Heading() string { return d.phrase("") }

// Lead is what it says next.
func (d PageData) Lead() string { return d.phrase("-lead") }

// phrase is the phrase for what the answer is about.
func (d PageData) phrase(suffix string) string {
	if d.Sent && d.Kind == kindWaiting.name {
		return d.Phrases["unsent"+suffix]
	}
	if text, ok := d.Phrases[d.Kind+suffix]; ok {
		return text
	}
	return d.Phrases["other"+suffix]
}

// Estimate is the estimated wait in words.
func (d PageData) Estimate() string {
	switch {
	case d.EtaHigh == 0:
		return d.Phrases["unknown"]
	case d.EtaHigh == 1:
		return d.Phrases["minute"]
	default:
		return strings.NewReplacer("{low}", strconv.Itoa(max(1, d.EtaLow)), "{high}", strconv.Itoa(d.EtaHigh)).
			Replace(d.Phrases["minutes"])
	}
}

// page is a Page made ready.
type page struct {
	Page
	gate    string
	matcher language.Matcher
	offered []string
}

// newPage makes a gate's page ready.
func newPage(gate string, plain Page) (*page, error) {
	p := &page{Page: plain, gate: gate, offered: plain.Languages}
	if len(p.offered) == 0 {
		p.offered = []string{"en", "de", "fr", "es"}
	}
	if p.Title == "" {
		p.Title = gate
	}
	if p.Template == nil {
		p.Template = builtIn
	}
	if p.Status == 0 {
		p.Status = http.StatusOK
	}
	var tags []language.Tag
	for _, name := range p.offered {
		tag, err := language.Parse(name)
		if err != nil || languages[name] == nil {
			return nil, fmt.Errorf("read page languages: there is no %q", name)
		}
		tags = append(tags, tag)
	}
	p.matcher = language.NewMatcher(tags)
	return p, nil
}

// language is the best of the page's languages for an Accept-Language header.
func (p *page) language(accept string) string {
	_, i := language.MatchStrings(p.matcher, accept)
	return p.offered[i]
}

// servePage answers with the gate's page.
func (x *exchange) servePage(w http.ResponseWriter, p plea) {
	page, h := x.gate.page, w.Header()
	nonce := rand.Text()
	data := page.data(x, p)
	data.Nonce = template.HTMLAttr(`nonce="` + nonce + `"`) // #nosec G203 -- our own letters
	h.Set("Content-Security-Policy", fmt.Sprintf(policy, nonce))
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Content-Language", data.Lang)
	code := p.kind.status
	if p.kind.waiting() && !x.sent() {
		code = page.Status
		// Rounded down: the browser must not come back later than the visitor counts as live.
		h.Set("Refresh", strconv.Itoa(max(1, int(p.poll/time.Second))))
	}
	var b bytes.Buffer
	if err := page.Template.Execute(&b, data); err != nil {
		x.fault = err.Error()
		b.Reset()
		if err := builtIn.Execute(&b, data); err != nil {
			send(w, p.kind.status, "application/problem+json", encode(newProblem(p.kind, p.detail, p.queue)))
			return
		}
	}
	send(w, code, "text/html; charset=utf-8", b.Bytes())
}

// data is what the template gets.
func (p *page) data(x *exchange, answer plea) PageData {
	lang := p.language(x.r.Header.Get("Accept-Language"))
	d := PageData{
		Gate: p.gate, Title: p.Title, Lang: lang, Kind: answer.kind.name, Sent: x.sent() && !answer.kind.upstream(),
		Live:      answer.queue != nil && !x.sent(),
		StatusURL: ownPrefix + "/" + p.gate + "/status", LeaveURL: ownPrefix + "/" + p.gate + "/leave",
		PollAfterMS: answer.poll.Milliseconds(), Phrases: languages[lang],
	}
	if q := answer.queue; q != nil {
		d.State, d.Position, d.Ahead, d.Waiting = q.State, q.Position, q.Ahead, q.Waiting
		if q.Eta != nil {
			d.EtaLow, d.EtaHigh = int(q.Eta.Low+59)/60, int(q.Eta.High+59)/60
		}
		if q.OpensAt != nil {
			d.OpensAt = *q.OpensAt
		}
		if q.Reason != nil {
			d.Reason = *q.Reason
		}
		d.Live = d.Live && q.Ticket != nil
	}
	return d
}

// readPhrases reads the languages of the built-in page. Each must have all the phrases that English has.
func readPhrases() map[string]phrases {
	all := map[string]phrases{}
	names, err := files.ReadDir("pages")
	if err != nil {
		panic(err)
	}
	for _, entry := range names {
		lang, ok := strings.CutSuffix(entry.Name(), ".json")
		if !ok {
			continue
		}
		text, err := files.ReadFile(path.Join("pages", entry.Name()))
		if err == nil {
			words := phrases{}
			err = json.Unmarshal(text, &words)
			all[lang] = words
		}
		if err != nil {
			panic(err)
		}
	}
	return all
}

// Languages are the languages that the built-in page has, in order.
func Languages() []string {
	names := make([]string, 0, len(languages))
	for name := range languages {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
