package proxy

import (
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"foyer/admission"
)

func TestPage_EveryLanguageSaysEverything(t *testing.T) {
	english := slices.Sorted(maps.Keys(languages["en"]))
	if len(languages) != 4 {
		t.Errorf("languages are %v", Languages())
	}
	for lang, words := range languages {
		if got := slices.Sorted(maps.Keys(words)); !slices.Equal(got, english) {
			t.Errorf("%s has the phrases %v", lang, got)
		}
		for key, text := range words {
			if text == "" || strings.Contains(text, "{low}") != (key == "minutes") {
				t.Errorf("%s: %s is %q", lang, key, text)
			}
		}
	}
	for _, k := range slices.Concat(slices.Collect(maps.Values(refusals)), slices.Collect(maps.Values(waits)),
		[]kind{kindWaiting, kindBadGateway, kindGatewayTimeout, kindTooLarge}) {
		if k != kindNotOffered && languages["en"][k.name+"-lead"] == "" {
			t.Errorf("the page has no words for %s", k.name)
		}
	}
}

func TestPage_SpeaksTheVisitorsLanguage(t *testing.T) {
	for accept, want := range map[string]string{
		"": "en", "de-AT,de;q=0.9,en;q=0.5": "de", "fr-CA": "fr", "es": "es", "zh": "en", "junk;;;q=x": "en", "en;q=0.1, es;q=0.9": "es",
	} {
		p, err := newPage("final", Page{})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.language(accept); got != want {
			t.Errorf("%q gets %s, want %s", accept, got, want)
		}
	}
	p, err := newPage("final", Page{Languages: []string{"fr", "de"}})
	if err != nil || p.language("es") != "fr" {
		t.Errorf("the first language is not the default: %v", err)
	}
	if _, err := newPage("final", Page{Languages: []string{"tlh"}}); err == nil {
		t.Error("a language that there is not was taken")
	}
}

func TestPage_ShowsNoMarkupOfStrangers(t *testing.T) {
	s := newStand(t, func(s *Settings) { s.Gates[0].Page.Title = `<b>"Final"</b>` })
	s.room.visit = func([]string, bool) admission.Verdict {
		v := waiting()
		v.Status.Reason = `</script><script>alert(1)</script>`
		v.Status.OpensAt = time.Now().Add(time.Hour)
		return v
	}
	_, body := s.do("GET", "/sale", "", "Accept", "text/html")
	if strings.Contains(body, "<b>") || strings.Contains(body, "alert(1)</script>") || strings.Count(body, "<script") != 2 {
		t.Errorf("markup got through: %s", body)
	}
}

func TestPage_StatusAndTemplateAreTheGates(t *testing.T) {
	own := template.Must(template.New("own").Parse(`{{.Title}} {{.Position}} {{.Heading}}<script {{.Nonce}}></script>`))
	s := newStand(t, func(s *Settings) {
		s.Gates[0].Page = Page{Title: "Mine", Template: own, Status: 202, Languages: []string{"de"}}
	})
	res, body := s.do("GET", "/sale", "", "Accept", "text/html")
	if res.StatusCode != http.StatusAccepted || !strings.HasPrefix(body, `Mine 317 Sie stehen in der Schlange<script nonce="`) {
		t.Errorf("got %d %s", res.StatusCode, body)
	}
	broken := template.Must(template.New("broken").Parse(`{{.Nothing}}`))
	s = newStand(t, func(s *Settings) { s.Gates[0].Page = Page{Template: broken} })
	if res, body := s.do("GET", "/sale", "", "Accept", "text/html"); res.StatusCode != 200 || !strings.Contains(body, "You are in line") {
		t.Errorf("a broken template: %d %s", res.StatusCode, body)
	}
}

func TestPage_SaysWhatARefusalIs(t *testing.T) {
	s := newStand(t, nil)
	s.room.visit = func([]string, bool) admission.Verdict {
		return refused(admission.RefusedSoldOut, admission.StateSoldOut)
	}
	res, body := s.do("POST", "/sale", "a=b", "Sec-Fetch-Mode", "navigate")
	if res.StatusCode != http.StatusGone || !strings.Contains(body, "Sold out") || !strings.Contains(body, "Nothing was sent") ||
		res.Header.Get("Refresh") != "" || strings.Contains(body, "<script") {
		t.Errorf("got %d %s", res.StatusCode, body)
	}
}
