package server

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/server/certificate"
	"github.com/trapezehq/trapeze/internal/server/certificate/certtest"
)

func pairFiles(p certtest.Pair, clientCA string) certificate.Files {
	return certificate.Files{Cert: p.Cert, Key: p.Key, ClientCA: clientCA}
}

// openTLS opens a server with TLS. Its log is written to log, unless that is nil.
func openTLS(t *testing.T, files certificate.Files, log *slog.Logger) *Server {
	t.Helper()
	s, err := Open(t.Context(), Config{DataDir: t.TempDir(), Addr: "127.0.0.1:0", TLS: files, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// dialTLS returns a client that trusts a CA; with fresh, each call has a connection of its own.
func dialTLS(t *testing.T, s *Server, url string, trust *tls.Config, fresh bool) *client.Client {
	t.Helper()
	o := client.Options{TLS: trust, Retries: -1}
	if fresh {
		o.HTTP = &http.Client{Transport: &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true}}
	}
	c, err := client.New(url, token(t, s), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func trusting(ca *certtest.CA) *tls.Config {
	return &tls.Config{RootCAs: ca.Pool(), MinVersion: tls.VersionTLS12}
}

func TestAnAddressThatOthersReachNeedsTLS(t *testing.T) {
	t.Parallel()
	ca := certtest.NewCA(t)
	files := pairFiles(ca.Issue("trapeze.example"), "")
	for _, addr := range []string{"0.0.0.0:8727", ":8727", "[::]:8727", "192.0.2.1:8727", "trapeze.example:8727"} {
		err := Config{DataDir: "d", Addr: addr}.check()
		r, ok := refusal.As(err)
		if !ok || r.Code != refusal.Invalid || !strings.Contains(r.Hint, "--tls-cert FILE --tls-key FILE") || !strings.Contains(r.Hint, "--behind-proxy") {
			t.Errorf("%s without TLS: %v", addr, err)
		}
		if err := (Config{DataDir: "d", Addr: addr, TLS: files}).check(); err != nil {
			t.Errorf("%s with TLS: %v", addr, err)
		}
		if err := (Config{DataDir: "d", Addr: addr, BehindProxy: true}).check(); err != nil {
			t.Errorf("%s behind a proxy: %v", addr, err)
		}
	}
	for want, c := range map[string]Config{
		"a certificate needs its private key":   {TLS: certificate.Files{Cert: files.Cert}},
		"client certificates need TLS":          {TLS: certificate.Files{ClientCA: ca.File}},
		"either the server or a proxy does TLS": {TLS: files, BehindProxy: true},
		"is not an address to listen on":        {TLS: files, Addr: "8727"},
	} {
		c.DataDir = "d"
		if c.Addr == "" {
			c.Addr = "127.0.0.1:0"
		}
		if err := c.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", c.TLS, err)
		}
	}
}

func TestCallsUseTLSAndSayWhatIsMissing(t *testing.T) {
	t.Parallel()
	ca := certtest.NewCA(t)
	s := openTLS(t, pairFiles(ca.Issue("localhost", "127.0.0.1"), ""), nil)
	if !strings.HasPrefix(s.URL(), "https://127.0.0.1:") {
		t.Errorf("the server is at %s", s.URL())
	}
	if _, err := dialTLS(t, s, s.URL(), trusting(ca), false).Me(t.Context()); err != nil {
		t.Errorf("a client that trusts the CA: %v", err)
	}
	plain := strings.Replace(s.URL(), "https://", "http://", 1)
	for name, c := range map[string]struct {
		trust      *tls.Config
		url        string
		text, hint string
	}{
		"without the CA":     {nil, s.URL(), "is of no CA that this client trusts", "--ca FILE or TRAPEZE_CA"},
		"without TLS":        {nil, plain, "is to be called with TLS", "use https://"},
		"with old TLS alone": {&tls.Config{RootCAs: ca.Pool(), MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}, s.URL(), "does not accept the TLS of this client", ""}, //nolint:gosec // it is refused
	} {
		_, err := dialTLS(t, s, c.url, c.trust, false).Me(t.Context())
		var e *client.Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, c.text) || !strings.Contains(e.Hint, c.hint) {
			t.Errorf("a call %s: %v", name, err)
		}
	}
	open := open(t, t.TempDir())
	_, err := dialTLS(t, open, strings.Replace(open.URL(), "http://", "https://", 1), nil, false).Me(t.Context())
	if !errors.Is(err, client.Invalid) || !strings.Contains(err.Error(), "use http://") {
		t.Errorf("a call with TLS to a server without: %v", err)
	}
	other := openTLS(t, pairFiles(ca.Issue("trapeze.example"), ""), nil)
	_, err = dialTLS(t, other, "https://"+other.listener.Addr().String(), trusting(ca), false).Me(t.Context())
	if !errors.Is(err, client.Unavailable) || !strings.Contains(err.Error(), `other names: "trapeze.example"`) {
		t.Errorf("a call to a server by another name: %v", err)
	}
	if !strings.HasPrefix(other.URL(), "https://trapeze.example:") {
		t.Errorf("the server is at %s", other.URL())
	}
}

// heard is what a test looks at in an answer.
type heard struct {
	status, version int
	tls             *tls.ConnectionState
}

func request(t *testing.T, c *http.Client, at string) heard {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return heard{res.StatusCode, res.ProtoMajor, res.TLS}
}

func TestAServerDoesNotStartWithABrokenCertificate(t *testing.T) {
	t.Parallel()
	ca := certtest.NewCA(t)
	pair := ca.Issue("127.0.0.1")
	if err := os.Chmod(pair.Key, 0o604); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Config{DataDir: t.TempDir(), Addr: "127.0.0.1:0", TLS: pairFiles(pair, "")})
	if s != nil || err == nil || !strings.Contains(err.Error(), "can be read by others") {
		t.Errorf("%v, %v", s, err)
	}
}

func TestACallNeedsACertificateOfTheClientsCA(t *testing.T) {
	t.Parallel()
	ca, clients, foreign := certtest.NewCA(t), certtest.NewCA(t), certtest.NewCA(t)
	s := openTLS(t, pairFiles(ca.Issue("127.0.0.1"), clients.File), nil)
	with := func(of *certtest.CA) *tls.Config {
		p := of.Issue("coder")
		own, err := tls.LoadX509KeyPair(p.Cert, p.Key)
		if err != nil {
			t.Fatal(err)
		}
		c := trusting(ca)
		// Whatever the server asks for: some clients send a certificate of another CA.
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &own, nil }
		return c
	}
	if _, err := dialTLS(t, s, s.URL(), with(clients), false).Me(t.Context()); err != nil {
		t.Errorf("with a certificate: %v", err)
	}
	none := dialTLS(t, s, s.URL(), trusting(ca), false)
	if _, err := none.Me(t.Context()); !errors.Is(err, client.NotPermitted) || !strings.Contains(err.Error(), "--client-cert FILE --client-key FILE") {
		t.Errorf("without a certificate: %v", err)
	}
	// With TLS 1.3 a client learns of it after its handshake: where its request is on the way already, the connection may end before it reads why.
	// Over HTTP/2 net/http then says in words of its own that the connection ended before its first frame.
	unread := func(err error) bool {
		return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) ||
			err != nil && strings.HasSuffix(err.Error(), "http2: client conn could not be established")
	}
	other := dialTLS(t, s, s.URL(), with(foreign), false)
	_, err := other.Me(t.Context())
	for tries := 0; tries < 50 && unread(err); tries++ {
		_, err = other.Me(t.Context())
	}
	if err == nil || !strings.Contains(err.Error(), "--client-cert FILE --client-key FILE") {
		t.Errorf("with a certificate of another CA: %v", err)
	}
	plain := &http.Client{Transport: &http.Transport{TLSClientConfig: trusting(ca)}}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/": 403, "/mcp": 403, "/metrics": 403, "/openapi.json": 403, "/healthz/": 403} {
		if res := request(t, plain, s.URL()+path); res.status != want {
			t.Errorf("%s without a certificate: %d", path, res.status)
		}
	}
}
