package proxy

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// retryAfter is when to ask again where no room has said it.
const retryAfter = 5 * time.Second

// plea is an answer that the edge gives instead of the upstream.
type plea struct {
	kind   kind
	detail string
	queue  *status       // nil where no room has judged
	poll   time.Duration // when to ask again; 0: retryAfter where that makes sense
}

// refuse answers the exchange with a page or a problem, whatever was asked for.
func (x *exchange) refuse(w http.ResponseWriter, k kind, detail string) {
	x.plead(w, plea{kind: k, detail: detail})
}

// wait answers with the exchange's verdict, which does not admit.
func (x *exchange) wait(w http.ResponseWriter) {
	k := kindOf(x.verdict)
	p := plea{kind: k, poll: x.verdict.Status.PollAfter}
	if x.verdict.Status.State != "" && k != kindNoTicket { // whoever has no place is told of none
		queue := newStatus(x.gate.Name, x.verdict.Status)
		p.queue = &queue
	}
	x.label = k.name
	x.plead(w, p)
}

// plead writes the answer: a page for a navigation, a problem for everything else, never a redirect.
func (x *exchange) plead(w http.ResponseWriter, p plea) {
	x.said = p
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h["Vary"] = []string{"Cookie, Authorization, Accept, Accept-Language"}
	h.Set("X-Robots-Tag", "noindex")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Del("Content-Length")
	h.Del("Content-Encoding")
	h.Del("Etag")
	if p.poll == 0 {
		p.poll = retryAfter
	}
	if p.kind.status == http.StatusTooManyRequests || p.kind.status == http.StatusServiceUnavailable {
		h.Set("Retry-After", ceilSeconds(p.poll))
	}
	if p.kind.status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", scheme)
	}
	switch {
	case x.plain || x.gate == nil || !x.wantsPage():
		send(w, p.kind.status, "application/problem+json", encode(newProblem(p.kind, p.detail, p.queue)))
	default:
		x.servePage(w, p)
	}
}

// respondJSON answers an endpoint of our own.
func respondJSON(w http.ResponseWriter, status int, v any) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h["Vary"] = []string{"Cookie, Authorization"}
	h.Set("X-Content-Type-Options", "nosniff")
	send(w, status, "application/json", encode(v))
}

// send writes a whole answer. For a HEAD request net/http sends the header alone.
func send(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// wantsPage reports whether the visitor looks at the answer in a browser's window: a navigation, or, where the browser
// does not say, a request that prefers HTML. Of those that are not GET or HEAD only forms count.
func (x *exchange) wantsPage() bool {
	navigates := x.r.Header.Get("Sec-Fetch-Mode") == "navigate"
	switch x.r.Method {
	case http.MethodGet, http.MethodHead:
		return navigates || prefersHTML(x.r)
	case http.MethodOptions:
		return false
	default:
		return navigates || x.r.Header.Get("Sec-Fetch-Mode") == "" && prefersHTML(x.r) && isForm(x.r)
	}
}

// sent reports whether the request would have changed something, so that the page must say that it did not.
func (x *exchange) sent() bool {
	return x.r.Method != http.MethodGet && x.r.Method != http.MethodHead
}

// isForm reports whether the body is what an HTML form sends.
func isForm(r *http.Request) bool {
	mediaType, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch strings.ToLower(strings.TrimSpace(mediaType)) {
	case "application/x-www-form-urlencoded", "multipart/form-data", "text/plain":
		return true
	}
	return false
}

// prefersHTML reports whether Accept names HTML, and no JSON that it likes better.
func prefersHTML(r *http.Request) bool {
	html, other := -1.0, -1.0
	for _, line := range r.Header["Accept"] {
		for part := range strings.SplitSeq(line, ",") {
			mediaType, q := quality(part)
			switch {
			case mediaType == "text/html" || mediaType == "application/xhtml+xml":
				html = max(html, q)
			case strings.HasSuffix(mediaType, "json") || mediaType == "text/event-stream":
				other = max(other, q)
			}
		}
	}
	return html > 0 && html >= other
}

// quality reads one item of an Accept header: a name in lower case, and its weight.
func quality(part string) (name string, q float64) {
	name, params, _ := strings.Cut(part, ";")
	q = 1
	for param := range strings.SplitSeq(params, ";") {
		if key, value, ok := strings.Cut(strings.TrimSpace(param), "="); ok && strings.EqualFold(key, "q") {
			if parsed, err := strconv.ParseFloat(value, 64); err == nil && parsed >= 0 && parsed <= 1 {
				q = parsed
			}
		}
	}
	return strings.ToLower(strings.TrimSpace(name)), q
}
