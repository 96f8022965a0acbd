package trust

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
)

// maxPEM is the maximum size of a file of certificates, in bytes.
const maxPEM = 4 << 20

// Files are the files of TLS: the CAs of the server, and the certificate of this client with its key. Empty ones are not used.
type Files struct{ CA, Cert, Key string }

// Config is how a client knows the servers at the hosts. The files are read once, to refuse those that cannot be used, and again for each connection.
func (t Files) Config(hosts []string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.Cert != "" {
		load := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return t.own() }
		if _, err := load(nil); err != nil {
			return nil, err
		}
		c.GetClientCertificate = load
	}
	if t.CA != "" {
		if _, err := t.roots(); err != nil {
			return nil, err
		}
		c.InsecureSkipVerify = true //nolint:gosec // VerifyConnection verifies, with the file as it is then
		c.VerifyConnection = func(state tls.ConnectionState) error { return t.verify(state, hosts) }
	}
	return c, nil
}

// verify verifies the certificate of a server as crypto/tls does, with the CAs in the file. TLS does not name a server that is called by an address: its
// certificate is that of one of the addresses.
func (t Files) verify(state tls.ConnectionState, hosts []string) error {
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
func (t Files) roots() (*x509.CertPool, error) {
	text, err := readPEM(t.CA)
	if err != nil {
		return nil, fmt.Errorf("the CA of the server: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("the CA of the server: %s has no certificate in PEM", t.CA)
	}
	return pool, nil
}

// own reads the certificate of this client. It refuses a key that others can read.
func (t Files) own() (*tls.Certificate, error) {
	info, err := os.Stat(t.Key)
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("%s can be read by others (mode %04o): restrict it with chmod 600", t.Key, info.Mode().Perm())
	}
	var pair tls.Certificate
	if err == nil {
		pair, err = tls.LoadX509KeyPair(t.Cert, t.Key)
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
