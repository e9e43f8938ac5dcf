package e2e

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
)

// person is a client with a cookie jar, who asks as a browser or as a program does.
type person struct {
	base    string
	client  *http.Client
	browser bool
}

func newPerson(base string, browser bool) *person {
	jar, _ := cookiejar.New(nil) // fails only for a faulty public suffix list
	return &person{base: base, browser: browser, client: &http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// reply is an answer read to its end.
type reply struct {
	*http.Response
	Text string
}

// ask sends one request; headers are name, value, name, value …
func (p *person) ask(t *testing.T, method, path, body string, headers ...string) reply {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, p.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if p.browser {
		request.Header.Set("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
		request.Header.Set("Sec-Fetch-Mode", "navigate")
		request.Header.Set("Sec-Fetch-Dest", "document")
	} else {
		request.Header.Set("Accept", "*/*")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	answer, err := p.client.Do(request)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil && answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge { // the server hangs up on the rest of the header
		t.Fatalf("read the answer to %s %s: %v", method, path, err)
	}
	return reply{answer, string(text)}
}

// want fails the test where an answer has another status.
func (r reply) want(t *testing.T, code int) reply {
	t.Helper()
	if r.StatusCode != code {
		t.Errorf("%s %s answers %d, want %d: %.300s", r.Request.Method, r.Request.URL.Path, r.StatusCode, code, r.Text)
	}
	return r
}
