package proxy

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"html/template"
	"net/http"
)

// operatorPage is the page for operators. It holds no data: its script asks the API, with the token it is given.
var operatorPage = template.Must(template.ParseFS(files, "pages/operator.html"))

// page serves it.
func (a *Admin) page(w http.ResponseWriter, _ *http.Request) {
	nonce := rand.Text()
	var b bytes.Buffer
	err := operatorPage.Execute(&b, struct {
		Nonce  template.HTMLAttr
		Token  bool
		Events []string
	}{template.HTMLAttr(`nonce="` + nonce + `"`), a.settings.Token != "", a.settings.Events}) // #nosec G203 -- our own letters
	if err != nil {
		complain(w, kindInternal, "")
		return
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", fmt.Sprintf(policy, nonce))
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	send(w, http.StatusOK, "text/html; charset=utf-8", b.Bytes())
}
