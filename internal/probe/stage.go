package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// configuration is foyer on TLS with its usual limits and a gate that everyone passes.
const configuration = `
server:
  listen: "127.0.0.1:0"
  admin: "127.0.0.1:0"
  tls: {cert: cert.pem, key: key.pem}
store: {state_file: ""}
gates:
  - {name: shop, upstream: %q, capacity: 1000, mode: "off"}
`

// stage is a storefront, foyer in front of it, and Go's own server beside it.
type stage struct {
	folder   string
	shop     *httptest.Server // plain HTTP
	standard *httptest.Server // the same on TLS, by net/http alone
	foyer    *exec.Cmd
	edge     string // host:port
}

// newStage starts everything.
func newStage(ctx context.Context) (*stage, error) {
	s := &stage{}
	var err error
	if s.folder, err = os.MkdirTemp("", "foyer-probe-"); err != nil {
		return nil, err
	}
	shop := http.HandlerFunc(storefront)
	s.shop = httptest.NewServer(shop)
	s.standard = httptest.NewUnstartedServer(shop)
	s.standard.EnableHTTP2 = true
	s.standard.Config.ErrorLog = log.New(io.Discard, "", 0) // what h2spec does to it is in its report
	s.standard.StartTLS()
	if err := s.startFoyer(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// block is what pages are made of; a thousand dawdlers must not cost the storefront a page each.
var block = bytes.Repeat([]byte("x"), 1<<10)

// storefront answers with a page, or with 8 MB of it.
func storefront(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	blocks := 1
	if r.URL.Path == "/large" {
		blocks = 8 << 10
	}
	for range blocks {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

// startFoyer starts ./foyer and waits for its address.
func (s *stage) startFoyer(ctx context.Context) error {
	program, err := filepath.Abs("foyer")
	if err != nil {
		return err
	}
	if err := writeCertificate(s.folder); err != nil {
		return fmt.Errorf("make certificate: %w", err)
	}
	text := fmt.Sprintf(configuration, s.shop.URL)
	if err := os.WriteFile(filepath.Join(s.folder, "foyer.yaml"), []byte(text), 0o600); err != nil {
		return err
	}
	s.foyer = exec.CommandContext(ctx, program, "serve")
	s.foyer.Dir = s.folder
	said, err := s.foyer.StderrPipe()
	if err != nil {
		return err
	}
	if err := s.foyer.Start(); err != nil {
		return fmt.Errorf("start foyer (make build makes it): %w", err)
	}
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		var line struct{ Msg, Edge string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "listening" {
			address, err := url.Parse(line.Edge)
			if err != nil {
				return err
			}
			s.edge = address.Host
			go io.Copy(io.Discard, said) //nolint:errcheck // until it ends
			return nil
		}
	}
	return errors.New("foyer ended before it listened")
}

// memory is what foyer occupies, in bytes.
func (s *stage) memory() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.foyer.Process.Pid))
	var size, resident int64
	if err == nil {
		_, err = fmt.Sscan(string(text), &size, &resident)
	}
	if err != nil {
		return 0
	}
	return resident * int64(os.Getpagesize())
}

func (s *stage) close() {
	if s.foyer != nil && s.foyer.Process != nil {
		_ = s.foyer.Process.Signal(syscall.SIGTERM)
		_ = s.foyer.Wait()
	}
	s.shop.Close()
	s.standard.Close()
	_ = os.RemoveAll(s.folder)
}

// client visits foyer, whoever signed its certificate.
func client() *http.Client {
	return &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // it is the certificate just made
		ForceAttemptHTTP2: true, DisableKeepAlives: true,
	}}
}

// writeCertificate makes a certificate for 127.0.0.1 that lasts a day.
func writeCertificate(folder string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: certificate}, "key.pem": {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600); err != nil {
			return err
		}
	}
	return nil
}
