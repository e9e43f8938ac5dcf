package proxy

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// D5 over HTTP/2, where net/http lets pass a length that is no number, several hosts beside :authority, and neither.
func TestEdge_RefusesWhatHTTP2LeavesInDoubt(t *testing.T) {
	authority, length := []string{":authority", "shop"}, "content-length"
	for name, c := range map[string]struct {
		authority, fields []string
		body              string
		status            int
	}{
		"plain":                      {authority, []string{length, "5"}, "hello", 200},
		"two equal lengths":          {authority, []string{length, "5", length, "5"}, "hello", 200}, // and the upstream is told one
		"a length in hexadecimal":    {authority, []string{length, "0x5"}, "", 400},
		"a length with a sign":       {authority, []string{length, "+0"}, "", 400},
		"a list of lengths":          {authority, []string{length, "0, 0"}, "", 400},
		"a length beyond all":        {authority, []string{length, "99999999999999999999"}, "", 400},
		"two equal hosts":            {authority, []string{"host", "shop", "host", "shop"}, "", 400},
		"a host that is another":     {authority, []string{"host", "other"}, "", 400},
		"a host for an authority":    {nil, []string{"host", "shop"}, "", 200},
		"neither authority nor host": {nil, nil, "", 400},
		"an empty authority":         {[]string{":authority", ""}, nil, "", 400},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStand(t, nil)
			fields := slices.Concat([]string{":method", "POST", ":scheme", "https", ":path", "/sale"}, c.authority,
				[]string{"cookie", "__Host-foyer-final=pass"}, c.fields)
			if status := overHTTP2(t, s.edge, c.body, fields, nil); status != c.status {
				t.Errorf("status %d, want %d", status, c.status)
			}
			switch seen := s.upstream.last(); {
			case seen != nil && c.status != 200:
				t.Error("the upstream has seen it")
			case seen != nil && len(seen.Header["Content-Length"]) > 1:
				t.Errorf("the upstream was told lengths %q", seen.Header["Content-Length"])
			}
		})
	}
}

// D6: the names of a client's trailers reach the upstream no more than their values.
func TestEdge_AnnouncesNoTrailers(t *testing.T) {
	for name, send := range map[string]func(*stand) int{
		"HTTP/1": func(s *stand) int {
			res, _ := s.raw("POST /sale HTTP/1.1\r\nHost: shop\r\nCookie: foyer-final=pass\r\nConnection: close\r\n" +
				"Transfer-Encoding: chunked\r\nTrailer: X-Foyer-Ticket, Host, X_Foyer_Ticket\r\n\r\n" +
				"5\r\nhello\r\n0\r\nX-Foyer-Ticket: 1\r\nX_Foyer_Ticket: 1\r\n\r\n")
			return res.StatusCode
		},
		"HTTP/2": func(s *stand) int {
			return overHTTP2(s.T, s.edge, "hello", []string{":method", "POST", ":scheme", "https", ":path", "/sale", ":authority", "shop",
				"cookie", "__Host-foyer-final=pass", "trailer", "x-foyer-ticket, host, x_foyer_ticket"},
				[]string{"x-foyer-ticket", "1", "x_foyer_ticket", "1"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStand(t, nil)
			if status := send(s); status != http.StatusOK {
				t.Fatalf("status %d", status)
			}
			if seen := s.upstream.last(); len(seen.Trailer) > 0 {
				t.Errorf("the upstream saw trailers %v", seen.Trailer)
			}
		})
	}
}

// overHTTP2 sends one request whose fields are name, value, name, value … as they are, and returns its status.
func overHTTP2(t *testing.T, edge *Edge, body string, fields, trailers []string) int {
	t.Helper()
	server := overTLS(t, edge)
	conn, err := tls.Dial("tcp", server.Listener.Addr().String(), &tls.Config{
		InsecureSkipVerify: true, NextProtos: []string{"h2"}, //nolint:gosec // it is the test's own server
	})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	framer := http2.NewFramer(conn, conn)
	_, err = io.WriteString(conn, http2.ClientPreface)
	err = errors.Join(err, framer.WriteSettings(), framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: 1, BlockFragment: block(fields), EndStream: body == "", EndHeaders: true,
	}))
	if body != "" {
		err = errors.Join(err, framer.WriteData(1, trailers == nil, []byte(body)))
	}
	if trailers != nil {
		err = errors.Join(err, framer.WriteHeaders(http2.HeadersFrameParam{
			StreamID: 1, BlockFragment: block(trailers), EndStream: true, EndHeaders: true,
		}))
	}
	if err != nil {
		t.Fatal(err)
	}
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if head, ok := frame.(*http2.MetaHeadersFrame); ok {
			status, _ := strconv.Atoi(head.PseudoValue("status"))
			return status
		}
	}
}

// block is a header block.
func block(fields []string) []byte {
	var b bytes.Buffer
	encoder := hpack.NewEncoder(&b)
	for i := 0; i < len(fields); i += 2 {
		_ = encoder.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}) // a buffer takes everything
	}
	return b.Bytes()
}
