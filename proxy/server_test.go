package proxy

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// serving starts a server and gives its address; stop ends it and waits.
func serving(t *testing.T, s ServerSettings) (addr string, stop func() error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- NewServer(s).Serve(ctx, l) }()
	stopped := false
	stop = func() error {
		stopped = true
		cancel()
		return <-done
	}
	t.Cleanup(func() {
		if !stopped {
			_ = stop()
		}
	})
	return l.Addr().String(), stop
}

// Nothing is answered behind the back of the edge: what it does not see it does not log.
func TestServer_HandsOnOptionsThatNameNoPath(t *testing.T) {
	addr, _ := serving(t, ServerSettings{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, r.RequestURI, http.StatusTeapot)
	})})
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "OPTIONS * HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusTeapot {
		t.Errorf("status %d: the handler was not asked", res.StatusCode)
	}
}

// G3: what is in flight when the server is told to stop is answered.
func TestServer_DrainsBeforeItStops(t *testing.T) {
	inside, release, drained := make(chan struct{}), make(chan struct{}), make(chan struct{})
	addr, stop := serving(t, ServerSettings{Drain: 5 * time.Second, OnDrain: func() { close(drained) },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(inside)
			<-release
			_, _ = io.WriteString(w, "done")
		})})
	answers := make(chan string, 1)
	go func() {
		res, err := http.Get("http://" + addr)
		if err != nil {
			answers <- err.Error()
			return
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		answers <- string(text)
	}()
	<-inside
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	<-drained
	close(release)
	if got := <-answers; got != "done" {
		t.Errorf("the request in flight got %q", got)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestServer_CutsOffWhatOutlastsTheDrain(t *testing.T) {
	inside := make(chan struct{})
	addr, stop := serving(t, ServerSettings{Drain: 50 * time.Millisecond, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(inside)
		<-r.Context().Done()
	})})
	go func() {
		if res, err := http.Get("http://" + addr); err == nil {
			_ = res.Body.Close()
		}
	}()
	<-inside
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// D11: those who dawdle over the header, the body or the answer are cut off, and others are not kept waiting.
func TestServer_CutsOffDawdlers(t *testing.T) {
	s := newStand(t, func(s *Settings) { s.ReadTimeout, s.WriteTimeout = time.Second, time.Second })
	s.upstream.answer = func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/sale/large" {
			block := make([]byte, 1<<20)
			for range 64 {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}
	}
	addr, _ := serving(t, ServerSettings{Handler: s.edge, ReadHeader: time.Second, Write: time.Second, Connections: 100, Drain: time.Second})
	const pass = " HTTP/1.1\r\nHost: shop\r\nCookie: foyer-final=pass\r\n"
	var conns []net.Conn
	for i := range 39 {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		start := []string{"GET /sale" + pass, "POST /sale" + pass + "Content-Length: 100\r\n\r\nabc", "GET /sale/large" + pass + "\r\n"}[i%3]
		if _, err := io.WriteString(conn, start); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+addr+"/sale", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Cookie", "foyer-final=pass")
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("somebody else got %v, %v", res, err)
	}
	_ = res.Body.Close()
	eventually(t, func() bool { return s.room.flight() == 0 })
	for i, conn := range conns {
		if i%3 == 2 { // the kernel goes on sending what it has taken; the handler, above, has ended
			continue
		}
		_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
		n, err := io.Copy(io.Discard, bufio.NewReader(conn))
		if nerr, ok := err.(net.Error); ok && nerr.Timeout() || n >= 64<<20 {
			t.Errorf("connection %d was not cut off: %d bytes, %v", i, n, err)
		}
	}
}

func TestServer_ServesTLSWithTheNewestCertificate(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(t, certFile, keyFile, 1)
	certificate, err := LoadCertificate(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	addr, _ := serving(t, ServerSettings{Certificate: certificate, Drain: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		respondText(w, r.Proto)
	})})
	serial := func() int64 {
		conn, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}) //nolint:gosec // our own
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if proto := conn.ConnectionState().NegotiatedProtocol; proto != "h2" {
			t.Errorf("protocol %q", proto)
		}
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	if got := serial(); got != 1 {
		t.Errorf("certificate %d", got)
	}
	writeCertificate(t, certFile, keyFile, 2)
	newer, err := LoadCertificate(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	certificate.Replace(newer)
	if got := serial(); got != 2 {
		t.Errorf("certificate %d after it was replaced", got)
	}
	if err := os.WriteFile(certFile, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadCertificate(certFile, keyFile); err == nil {
		t.Error("junk is a certificate")
	}
}

func TestServer_AHugeHeaderIs431(t *testing.T) {
	s := newStand(t, nil)
	addr, _ := serving(t, ServerSettings{Handler: s.edge, HeaderBytes: 32 << 10, Drain: time.Second})
	for size, want := range map[int]int{20 << 10: http.StatusTooManyRequests, 64 << 10: http.StatusRequestHeaderFieldsTooLarge} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+addr+"/sale", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Cookie", "foyer-final="+strings.Repeat("x", size))
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("a cookie of %d bytes: %d", size, res.StatusCode)
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// writeCertificate writes a certificate of its own making.
func writeCertificate(t *testing.T, certFile, keyFile string, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"shop"}}
	cert, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
