package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"foyer/internal/services"
)

// reader is an upstream that says how it reads a request: "sale" or "other", by its own routing, then the gate that let
// the request in, then the path it saw.
type reader struct {
	base string
	seen func() int // the requests that reached it
}

// readers are three servers that each take a request target apart in their own way.
var readers = map[string]func(*testing.T) reader{"go": goReader, "nginx": nginxReader, "node": nodeReader}

// goReader routes by http.ServeMux.
func goReader(t *testing.T) reader {
	var seen atomic.Int64
	says := func(what string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "%s %s %s", what, r.Header.Get("X-Foyer-Gate"), r.URL.Path)
		}
	}
	mux := http.NewServeMux()
	mux.Handle("/sale", says("sale"))
	mux.Handle("/sale/", says("sale"))
	mux.Handle("/", says("other"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return reader{server.URL, func() int { return int(seen.Load()) }}
}

// nginxReader routes by location blocks.
func nginxReader(t *testing.T) reader {
	folder := t.TempDir()
	log := filepath.Join(folder, "access.log")
	base := nginxIn(t, folder, `log_format line "$request_method $uri";`, `
		access_log `+log+` line;
		default_type text/plain;
		location = /sale { return 200 "sale $http_x_foyer_gate $uri"; }
		location /sale/ { return 200 "sale $http_x_foyer_gate $uri"; }
		location / { return 200 "other $http_x_foyer_gate $uri"; }`)
	before := countLines(t, log) // it was asked whether it runs
	return reader{base, func() int { return countLines(t, log) - before }}
}

// nodeProgram routes as an application on Node's http does: by the decoded path of a WHATWG URL.
const nodeProgram = `
const http = require('node:http'), fs = require('node:fs');
http.createServer((req, res) => {
	fs.appendFileSync(process.argv[3], req.method + ' ' + req.url + '\n');
	let path = req.url;
	try { path = decodeURIComponent(new URL(req.url, 'http://x').pathname); } catch { }
	const sale = path === '/sale' || path.startsWith('/sale/');
	req.resume().on('end', () => res.end((sale ? 'sale ' : 'other ') + req.headers['x-foyer-gate'] + ' ' + path));
}).listen(+process.argv[2], '127.0.0.1');
`

func nodeReader(t *testing.T) reader {
	program, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("node is missing; mend it with: apt-get install nodejs, or make test-deps")
	}
	folder, port := t.TempDir(), services.FreePort(t)
	script, log := filepath.Join(folder, "server.cjs"), filepath.Join(folder, "access.log")
	write(t, script, nodeProgram)
	run(t, exec.Command(program, script, fmt.Sprint(port), log))
	base := fmt.Sprintf("http://127.0.0.1:%d", port)
	answers(t, base)
	before := countLines(t, log)
	return reader{base, func() int { return countLines(t, log) - before }}
}

func countLines(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return bytes.Count(text, []byte("\n"))
}

// gatedReader is foyer in front of a reader: one gate is on the sale, one on everything else, and all may pass.
func gatedReader(t *testing.T, upstream string) *server {
	t.Helper()
	return serve(t, fmt.Sprintf(`
server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0"}
gates:
  - {name: sale, match: {paths: [/sale, /sale/**]}, upstream: %[1]q, capacity: 9, mode: "off"}
  - {name: other, upstream: %[1]q, capacity: 9, mode: "off"}
`, upstream))
}

// wire is a connection on which bytes are sent as they are.
type wire struct {
	t    *testing.T
	to   string
	conn net.Conn
	read *bufio.Reader
}

// send sends a request and reads the answer. It opens a new connection where foyer has closed the last.
func (w *wire) send(request string) (status int, text string) {
	w.t.Helper()
	for {
		fresh := w.conn == nil
		if fresh {
			conn, err := net.Dial("tcp", w.to)
			if err != nil {
				w.t.Fatal(err)
			}
			w.t.Cleanup(func() { _ = conn.Close() })
			w.conn, w.read = conn, bufio.NewReader(conn)
		}
		_, err := fmt.Fprint(w.conn, request)
		var answer *http.Response
		if err == nil {
			answer, err = http.ReadResponse(w.read, nil)
		}
		if err != nil && !fresh {
			_, w.conn = w.conn.Close(), nil
			continue
		}
		if err != nil {
			w.t.Fatalf("%q: %v", request, err)
		}
		var body bytes.Buffer
		_, _ = body.ReadFrom(answer.Body)
		if answer.Close {
			_, w.conn = w.conn.Close(), nil
		}
		return answer.StatusCode, body.String()
	}
}

func wireTo(t *testing.T, base string) *wire {
	t.Helper()
	address, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	return &wire{t: t, to: address.Host}
}

// slippery are targets that are read in different ways: those of the advisories of other proxies, and all paths of up to
// three of the parts that these were made of.
func slippery() []string {
	targets := []string{
		"/x%2f..%2fsale", "/sale;x=1", "/sale%00", `/static\..\sale`, "http://shop/sale", "http://SHOP.:80//sale", "https://shop/sale",
		"/static/%2e%2e/sale", "/static/..%2fsale", "/sale%3f", "/sale%23", "/sale%3b", "/static/%252e%252e/sale", "/x/..;/sale",
		"/%c0%afsale", "/sale?x=/../y", "/?/sale", "/other?/../sale", "/sale%", "/sale%2", "/sale%zz", "/sale%0a", "/sale%0d%0aX:y", "*",
		"/sale#x", "/ſale", "/%c5%bfale", "/sale/../../sale", "/sale%2f", "/sale%5c", "/%2e/sale", "/sale/%2e%2e", "/sale/..", "/sale//",
	}
	parts := []string{"sale", "%73ale", "SALE", "sale.", "sale%20", "x", "..", ".", "%2e", "%2E.", ""}
	for _, a := range parts {
		for _, b := range parts {
			for _, c := range parts {
				targets = append(targets, strings.Join([]string{"", a, b, c}, "/"))
			}
			targets = append(targets, strings.Join([]string{"", a, b}, "/"))
		}
		targets = append(targets, "/"+a)
	}
	return targets
}

// TestUpstreams_SeeThePathOfTheGateThatWasApplied is D4: whichever server stands behind foyer, it takes a request for the
// sale exactly if the gate of the sale has.
func TestUpstreams_SeeThePathOfTheGateThatWasApplied(t *testing.T) {
	for name, open := range readers {
		t.Run(name, func(t *testing.T) {
			upstream := open(t)
			w := wireTo(t, gatedReader(t, upstream.base).Edge)
			counts := map[string]int{}
			for _, target := range slippery() {
				status, text := w.send("GET " + target + " HTTP/1.1\r\nHost: SHOP.:80\r\n\r\n")
				switch status {
				case http.StatusOK:
					read, rest, _ := strings.Cut(text, " ")
					gate, _, _ := strings.Cut(rest, " ")
					if read != gate {
						t.Errorf("%s: the gate was %s's, and the upstream took it for %s", target, gate, text)
					}
					counts[gate]++
				case http.StatusBadRequest:
					counts["refused"]++
				default:
					t.Errorf("%s: status %d %s", target, status, text)
				}
			}
			if counts["sale"] < 100 || counts["other"] < 100 || counts["refused"] < 10 {
				t.Errorf("too few of a kind: %v", counts)
			}
			t.Logf("%v", counts)
		})
	}
}

// TestUpstreams_SeeNothingThatIsReadInTwoWays is D5.
func TestUpstreams_SeeNothingThatIsReadInTwoWays(t *testing.T) {
	const host, end = "Host: shop\r\n", "Connection: close\r\n\r\n"
	refused := map[string]string{
		"connect":             "CONNECT shop:80 HTTP/1.1\r\n" + host + end,
		"trace":               "TRACE /sale HTTP/1.1\r\n" + host + end,
		"unknown method":      "BREW /sale HTTP/1.1\r\n" + host + end,
		"two hosts":           "GET /sale HTTP/1.1\r\n" + host + "Host: other\r\n" + end,
		"two lengths":         "POST /sale HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 2\r\n" + end + "ab",
		"length and encoding": "POST /x HTTP/1.1\r\n" + host + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /sale HTTP/1.1\r\n" + host + end,
		"folded encoding":     "POST /x HTTP/1.1\r\n" + host + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
		"disguised encoding":  "POST /x HTTP/1.1\r\n" + host + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\nGET /sale HTTP/1.1\r\n" + host + end,
		"space before colon":  "POST /x HTTP/1.1\r\n" + host + "Content-Length : 40\r\n" + end,
		"bare CR in header":   "GET /x HTTP/1.1\r\n" + host + "X-A: b\rTransfer-Encoding: chunked\r\n" + end,
	}
	served := map[string]string{
		"upgrade to h2c":     "GET /x HTTP/1.1\r\n" + host + "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nConnection: Upgrade, HTTP2-Settings, close\r\n\r\n",
		"upgrade to unknown": "GET /x HTTP/1.1\r\n" + host + "Upgrade: tls/1.2\r\nConnection: Upgrade, close\r\n\r\n",
		"a body with GET":    "GET /x HTTP/1.1\r\n" + host + "Content-Length: 34\r\n" + end + "GET /sale HTTP/1.1\r\nHost: shop\r\n\r\n",
		"an override":        "GET /x HTTP/1.1\r\n" + host + "X-HTTP-Method-Override: CONNECT\r\nX-Original-URL: /sale\r\nX-Rewrite-URL: /sale\r\n" + end,
	}
	for name, open := range readers {
		t.Run(name, func(t *testing.T) {
			upstream := open(t)
			edge := gatedReader(t, upstream.base).Edge
			for what, request := range refused {
				before := upstream.seen()
				status, text := wireTo(t, edge).send(request)
				if status != 400 && status != 405 && status != 501 || upstream.seen() != before {
					t.Errorf("%s: %d %s, and the upstream saw %d requests", what, status, text, upstream.seen()-before)
				}
			}
			for what, request := range served {
				before := upstream.seen()
				status, text := wireTo(t, edge).send(request)
				eventually(t, 10*time.Second, what+" is in the upstream's log", func() bool { return upstream.seen() > before })
				if status != http.StatusOK || text != "other other /x" || upstream.seen() != before+1 {
					t.Errorf("%s: %d %s, and the upstream saw %d requests", what, status, text, upstream.seen()-before)
				}
			}
			// A body is passed on as it comes, so the upstream may see the beginning of one that turns out to be broken, and
			// nothing of what follows.
			before := upstream.seen()
			wireTo(t, edge).send("POST /x HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\nGET /sale HTTP/1.1\r\n" + host + end)
			if got := upstream.seen() - before; got > 1 {
				t.Errorf("the upstream saw %d requests in one with a broken chunk", got)
			}
		})
	}
}
