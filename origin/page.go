package origin

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"
)

//go:embed page.html
var pageSource string

var page = template.Must(template.New("page").Funcs(template.FuncMap{"money": money}).Parse(pageSource))

// pageData is what the shop's page shows: an event, a receipt, that something is missing, or else the list of events.
type pageData struct {
	Nonce   string
	Event   *Stock
	Order   *Order
	Missing string
	Events  []Stock
	Card    string // the payment method that is offered first
	Tests   bool   // the gateway's test cards may be chosen
}

// showShop lists what is on sale.
func (s *Shop) showShop(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Accept")
	if !wantsPage(r) {
		s.listEvents(w, r)
		return
	}
	stocks, err := s.settings.Ledger.Events(r.Context())
	if err != nil {
		send(w, s.broke("list events", err))
		return
	}
	s.buyers.Load().admit(w, r)
	s.sendPage(w, http.StatusOK, pageData{Events: stocks})
}

// showEvent is the page of an event, made of the same calls that an app makes.
func (s *Shop) showEvent(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Accept")
	if !wantsPage(r) {
		s.readEvent(w, r)
		return
	}
	stock, ok, err := s.settings.Ledger.Event(r.Context(), r.PathValue("event"))
	switch {
	case err != nil:
		send(w, s.broke("read event", err))
	case !ok:
		s.sendPage(w, http.StatusNotFound, pageData{Missing: "No such event"})
	default:
		s.buyers.Load().admit(w, r)
		s.sendPage(w, http.StatusOK, pageData{Event: &stock})
	}
}

func (s *Shop) sendPage(w http.ResponseWriter, status int, data pageData) {
	data.Nonce = rand.Text()
	data.Card = "pm_card_visa"
	data.Tests = s.settings.Gateway.Name() == "simulator"
	var body bytes.Buffer
	if err := page.Execute(&body, data); err != nil {
		send(w, s.broke("render page", err))
		return
	}
	header := w.Header()
	header.Set("Content-Security-Policy", fmt.Sprintf("default-src 'none'; script-src 'nonce-%[1]s'; style-src 'nonce-%[1]s'; "+
		"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'", data.Nonce))
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "same-origin")
	send(w, outcome{Answer: Answer{
		Status: status, Headers: map[string]string{"Content-Type": "text/html; charset=utf-8"}, Body: body.Bytes(),
	}})
}

// wantsPage tells a browser that shows a page from everything else.
func wantsPage(r *http.Request) bool {
	if r.Header.Get("Sec-Fetch-Mode") == "navigate" {
		return true
	}
	accept := r.Header.Get("Accept")
	html := strings.Index(accept, "text/html")
	json := strings.Index(accept, "application/json")
	return html >= 0 && (json < 0 || html < json)
}

// money writes minor units as people read them. Currencies without minor units are those that Stripe lists.
func money(amount int64, currency string) string {
	upper := strings.ToUpper(currency)
	switch currency {
	case "bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg", "rwf", "ugx", "vnd", "vuv", "xaf", "xof", "xpf":
		return fmt.Sprintf("%d %s", amount, upper)
	}
	return fmt.Sprintf("%d.%02d %s", amount/100, amount%100, upper)
}
