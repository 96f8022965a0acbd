package shell

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/trapezehq/trapeze/client/wire"
	"github.com/trapezehq/trapeze/internal/cli/daemon"
)

// maxPEM is the maximum size of a file of certificates, in bytes.
const maxPEM = 4 << 20

// trustFiles are the files of TLS: the CAs of the server, and the certificate of this client with its key. Empty ones are not used.
type trustFiles struct{ ca, cert, key string }

// trustFiles returns the files that the caller gave. For the server on the data directory, its own certificate takes the place of a
// CA: who can read the directory need not be told whom to trust.
func (s *Shell) trustFiles() trustFiles {
	t := trustFiles{
		cmp.Or(s.Flags.CA, s.Getenv("TRAPEZE_CA")), cmp.Or(s.Flags.ClientCert, s.Getenv("TRAPEZE_CLIENT_CERT")), cmp.Or(s.Flags.ClientKey, s.Getenv("TRAPEZE_CLIENT_KEY")),
	}
	if dir, err := s.DataDir(); err == nil && t.ca == "" {
		if at, _, found := daemon.Serving(dir); found && at == s.URL() {
			t.ca = daemon.Certificate(dir)
		}
	}
	for _, name := range []*string{&t.ca, &t.cert, &t.key} {
		if whole, err := filepath.Abs(*name); err == nil && *name != "" {
			*name = whole
		}
	}
	return t
}

// TLS is how this client knows the server; nil means the CAs of the system. The files are read again for each connection.
func (s *Shell) TLS() (*tls.Config, error) {
	files := s.trustFiles()
	switch {
	case (files.cert == "") != (files.key == ""):
		return nil, Hinted(Usagef("a client certificate needs its private key"), "give both: --client-cert FILE --client-key FILE")
	case files == trustFiles{}:
		return nil, nil //nolint:nilnil // as crypto/tls has it
	}
	var hosts []string
	for one := range strings.SplitSeq(s.URLs(), ",") {
		u, err := url.Parse(one)
		if err != nil {
			return nil, Usage(err)
		}
		hosts = append(hosts, u.Hostname())
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if files.cert != "" {
		load := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return files.own() }
		if _, err := load(nil); err != nil {
			return nil, Usage(err)
		}
		c.GetClientCertificate = load
	}
	if files.ca != "" {
		if _, err := files.roots(); err != nil {
			return nil, Usage(err)
		}
		c.InsecureSkipVerify = true //nolint:gosec // VerifyConnection verifies, with the file as it is then
		c.VerifyConnection = func(state tls.ConnectionState) error { return files.verify(state, hosts) }
	}
	return c, nil
}

// verify verifies the certificate of a server as crypto/tls does, with the CAs in the file. TLS does not name a server that is called by an address: its
// certificate is that of one of the addresses.
func (t trustFiles) verify(state tls.ConnectionState, hosts []string) error {
	roots, err := t.roots()
	if err != nil {
		return err
	}
	if len(state.PeerCertificates) == 0 {
		return errors.New("the server has no certificate")
	}
	if state.ServerName != "" {
		hosts = []string{state.ServerName}
	}
	o := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
	for _, c := range state.PeerCertificates[1:] {
		o.Intermediates.AddCert(c)
	}
	err = errors.New("there is no address")
	for _, o.DNSName = range hosts {
		if o.DNSName == "" {
			continue
		}
		if _, err = state.PeerCertificates[0].Verify(o); err == nil {
			return nil
		}
	}
	return &tls.CertificateVerificationError{UnverifiedCertificates: state.PeerCertificates, Err: err}
}

// roots reads the CAs of the server.
func (t trustFiles) roots() (*x509.CertPool, error) {
	text, err := readPEM(t.ca)
	if err != nil {
		return nil, fmt.Errorf("the CA of the server: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("the CA of the server: %s has no certificate in PEM", t.ca)
	}
	return pool, nil
}

// own reads the certificate of this client. It refuses a key that others can read.
func (t trustFiles) own() (*tls.Certificate, error) {
	info, err := os.Stat(t.key)
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("%s can be read by others (mode %04o): restrict it with chmod 600", t.key, info.Mode().Perm())
	}
	var pair tls.Certificate
	if err == nil {
		pair, err = tls.LoadX509KeyPair(t.cert, t.key)
	}
	if err != nil {
		return nil, fmt.Errorf("the client certificate: %w", err)
	}
	return &pair, nil
}

func readPEM(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxPEM+1))
	if err == nil && len(text) > maxPEM {
		err = fmt.Errorf("%s is larger than %d bytes", name, maxPEM)
	}
	return text, err
}

// TrustEnv are the environment variables by which another program of this machine knows the server as this one does.
func (s *Shell) TrustEnv() []string {
	files := s.trustFiles()
	var env []string
	for _, v := range [][2]string{{"TRAPEZE_CA", files.ca}, {"TRAPEZE_CLIENT_CERT", files.cert}, {"TRAPEZE_CLIENT_KEY", files.key}} {
		if v[1] != "" {
			env = append(env, v[0]+"="+v[1])
		}
	}
	return env
}

// TrustArgs are the arguments that do the same. The certificate of a server on the data directory is not among them: commands find it.
func (s *Shell) TrustArgs() []string {
	files := s.trustFiles()
	if s.Flags.CA == "" && s.Getenv("TRAPEZE_CA") == "" {
		files.ca = ""
	}
	var args []string
	for _, v := range [][2]string{{"--ca", files.ca}, {"--client-cert", files.cert}, {"--client-key", files.key}} {
		if v[1] != "" {
			args = append(args, v[0], v[1])
		}
	}
	return args
}

// HTTP is an HTTP client that knows the server as the other clients do.
func (s *Shell) HTTP() (*http.Client, error) {
	trust, err := s.TLS()
	if err != nil {
		return nil, err
	}
	return wire.HTTP(1, trust), nil
}

// TLSHint is what to do about an error of TLS; otherwise usual.
func TLSHint(err error, usual string) string {
	if p, ok := wire.Unsafe(err, ""); ok {
		return p.Hint
	}
	return usual
}
