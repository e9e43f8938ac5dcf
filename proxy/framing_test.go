package proxy

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

func TestFraming_FollowsRequestsHoweverTheyArrive(t *testing.T) {
	const ok = "GET / HTTP/1.1\r\nHost: a\r\nX-Long: " + "0123456789" + "\r\n\r\n" +
		"POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 30\r\n\r\nContent-Length: 1\r\nContent-Len" +
		"POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4;x=y\r\n\r\n\r\n\r\nA\r\n0123456789\r\n0\r\nX: y\r\nContent-Length: 3\r\n\r\n" +
		"POST /d HTTP/1.0\nContent-Length: 0\n\n" +
		"GET /e HTTP/1.1\r\nHost: a\r\n\r\n"
	const bad = "POST /f HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx"
	for size := 1; size <= len(ok+bad); size++ {
		var f framing
		var err error
		passed := 0
		for rest := []byte(ok + bad); len(rest) > 0 && err == nil; {
			n := min(size, len(rest))
			var good int
			good, err = f.scan(rest[:n])
			passed += good
			rest = rest[n:]
		}
		if !errors.Is(err, errFraming) || passed < len(ok) || passed > len(ok+bad)-len("\nx") {
			t.Fatalf("in pieces of %d: %v after %d of %d bytes", size, err, passed, len(ok))
		}
	}
}

func TestFraming_RefusesAnAbsoluteTargetOfAnotherHost(t *testing.T) {
	for request, fine := range map[string]bool{
		"GET http://shop.test/sale HTTP/1.1\r\nHost: shop.test\r\n\r\n":            true,
		"GET HTTP://SHOP.test.:80/sale HTTP/1.1\r\nhost:shop.test\r\n\r\n":         true,
		"GET https://shop.test?a=b HTTP/1.1\r\nHost: shop.test:443\r\n\r\n":        true,
		"GET /sale?next=http://other.test/ HTTP/1.1\r\nHost: shop.test\r\n\r\n":    true,
		"GET http://other.test/sale HTTP/1.1\r\nHost: shop.test\r\n\r\n":           false,
		"GET http://shop.test:81/sale HTTP/1.1\r\nHost: shop.test\r\n\r\n":         false,
		"GET http://shop.test/sale HTTP/1.1\r\nX: y\r\nHost: shop.test:81\r\n\r\n": false,
		"GET http://a@shop.test/sale HTTP/1.1\r\nHost: shop.test\r\n\r\n":          false,
	} {
		var f framing
		if _, err := f.scan([]byte(request)); (err == nil) != fine {
			t.Errorf("%q: %v", request, err)
		}
	}
}

func TestStrictConn_RefusesTheSecondRequestOfAConnection(t *testing.T) {
	s := newStand(t, nil)
	conn, err := net.Dial("tcp", s.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const head = " /sale HTTP/1.1\r\nHost: a\r\nCookie: foyer-final=pass\r\n"
	reader := bufio.NewReader(conn)
	for _, request := range []struct {
		text string
		want int
	}{
		{"GET" + head + "\r\n", http.StatusOK},
		{"POST" + head + "Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / H", http.StatusBadRequest},
	} {
		_, _ = io.WriteString(conn, request.text)
		res, err := http.ReadResponse(reader, nil)
		if err != nil || res.StatusCode != request.want {
			t.Fatalf("got %v, %v, want %d", res, err, request.want)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
	if s.upstream.count() != 1 {
		t.Errorf("%d requests reached the upstream", s.upstream.count())
	}
}

// Whatever framing lets through, net/http reads the same requests from, as far as it reads.
func FuzzFraming(f *testing.F) {
	f.Add([]byte("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nHost: a\r\n\r\n"))
	f.Add([]byte("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;a\r\nx\r\n0\r\nA: b\r\n\r\nGET / HTTP/1.1\nHost: a\n\n"))
	f.Add([]byte("POST / HTTP/1.0\r\nContent-Length: 0\r\ncontent-length : 0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var whole framing
		good, err := whole.scan(bytes.Clone(data))
		if err != nil {
			data = data[:good]
		}
		counted := &metered{Reader: bytes.NewReader(data)}
		reader := bufio.NewReader(counted)
		for {
			r, err := http.ReadRequest(reader)
			if err != nil {
				return
			}
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return
			}
			at := counted.n - reader.Buffered()
			var f framing
			if _, err := f.scan(bytes.Clone(data[:at])); err != nil || f.next != partStart || len(f.line) != 0 {
				if strings.HasPrefix(string(data), "PRI ") || r.Method == "PRI" {
					return
				}
				t.Fatalf("net/http ends a request at %d of %q; framing is at %d, %v", at, data, f.next, err)
			}
		}
	})
}

// metered counts what is read.
type metered struct {
	io.Reader
	n int
}

func (c *metered) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}
