package server

import (
	"cmp"
	"context"
	"crypto/x509"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/server/certificate"
)

// certificateEvery is how often the files of the certificate are looked at without a new connection: for the log and the alert.
const certificateEvery = 10 * time.Second

// checkReach refuses an address that other machines could reach without TLS, since tokens would be sent unencrypted, and files of TLS
// that do not go together.
func (c Config) checkReach(host string) error {
	switch t := c.TLS; {
	case (t.Cert == "") != (t.Key == ""):
		return refusal.New(refusal.Invalid, "give both: --tls-cert FILE --tls-key FILE", "a certificate needs its private key")
	case t.ClientCA != "" && t.Cert == "":
		return refusal.New(refusal.Invalid, "add --tls-cert FILE --tls-key FILE", "client certificates need TLS")
	case c.BehindProxy && t.Cert != "":
		return refusal.New(refusal.Invalid, "use --tls-cert and --tls-key, or --behind-proxy", "either the server or a proxy does TLS")
	case t.Cert != "" || c.BehindProxy:
		return nil
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return refusal.New(refusal.Invalid, "listen on 127.0.0.1; or give it a certificate: --tls-cert FILE --tls-key FILE; or, if a proxy in front of it does TLS: --behind-proxy",
			"%q can be reached from other machines, and tokens would be sent unencrypted", c.Addr)
	}
	return nil
}

// openCertificate reads the certificate, if there is one.
func (s *Server) openCertificate() (err error) {
	if s.config.TLS.Cert != "" {
		s.certificate, err = certificate.Open(s.config.TLS, s.config.Now, s.config.Log)
	}
	return err
}

// renewed says what is wrong with the certificate, or its renewal; nil: nothing, or there is none.
func (s *Server) renewed() error {
	if s.certificate == nil {
		return nil
	}
	return s.certificate.Err()
}

// watchCertificate reads the files of the certificate until ctx ends.
func (s *Server) watchCertificate(ctx context.Context) {
	for range ticks(ctx, certificateEvery) {
		s.certificate.Check()
	}
}

// serveCalls accepts connections until the server is closed.
func (s *Server) serveCalls(background context.Context) {
	if s.certificate == nil {
		s.accept(func() error { return s.http.Serve(s.listener) })
		return
	}
	s.http.TLSConfig = s.certificate.Config()
	// A line for each port scan would fill the log.
	s.http.ErrorLog = slog.NewLogLogger(s.config.Log.Handler(), slog.LevelDebug)
	if s.config.TLS.ClientCA != "" {
		s.http.Handler = httpapi.RequireCertificate(s.http.Handler)
	}
	s.running.Go(func() { s.watchCertificate(background) })
	s.accept(func() error { return s.http.ServeTLS(s.listener, "", "") })
}

// URL returns the URL of the server: with an address that this machine can use, and with TLS one that the certificate is for.
func (s *Server) URL() string {
	at := s.listener.Addr().String()
	host, port, err := net.SplitHostPort(at)
	if err != nil {
		return "http://" + at
	}
	ip := net.ParseIP(host)
	if s.certificate == nil {
		if ip.IsUnspecified() {
			host = "127.0.0.1"
		}
		return "http://" + net.JoinHostPort(host, port)
	}
	return "https://" + net.JoinHostPort(s.nameOf(host, s.certificate.Leaf()), port)
}

// nameOf returns a name for the host that the certificate is for; the host itself if there is none.
func (s *Server) nameOf(host string, leaf *x509.Certificate) string {
	ip, names := net.ParseIP(host), []string{host}
	if ip.IsUnspecified() || ip.IsLoopback() {
		names = append(names, "localhost", "127.0.0.1", "::1")
	}
	return cmp.Or(s.certified(leaf, names, func(string) bool { return true }), host)
}

// certified returns the first name of a list, the configured hosts and the certificate that the certificate is for and that will do; empty if there is none.
func (s *Server) certified(leaf *x509.Certificate, names []string, will func(name string) bool) string {
	names = slices.Concat(names, s.config.Hosts, leaf.DNSNames)
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	for _, name := range names {
		if !strings.Contains(name, "*") && will(name) && leaf.VerifyHostname(name) == nil {
			return name
		}
	}
	return ""
}

// outside returns the URL of the server for other machines, as far as it knows one: that it listens on all addresses tells them nothing, and its loopback is not
// theirs. machine is the name of this one, which may have none; then it is the URL for this machine, unless the certificate has a name.
func (s *Server) outside(machine string) string {
	host, port, err := net.SplitHostPort(s.listener.Addr().String())
	ip := net.ParseIP(host)
	switch {
	case err != nil || ip.IsLoopback():
		return s.URL()
	case ip.IsUnspecified():
		host = machine
	}
	scheme := "http://"
	if s.certificate != nil {
		scheme = "https://"
		host = cmp.Or(s.certified(s.certificate.Leaf(), []string{host, machine}, func(name string) bool {
			return name != "localhost" && !net.ParseIP(name).IsLoopback()
		}), host)
	}
	if host == "" {
		return s.URL()
	}
	return scheme + net.JoinHostPort(host, port)
}
