package certificate

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// maxFile is the maximum size of a file, in bytes. A bundle of all public CAs has about 250,000.
const maxFile = 1 << 20

// Files are the files of a server's certificate, in PEM.
type Files struct {
	Cert string // the certificate, and the intermediate ones after it
	Key  string // its private key
	// ClientCA has the CAs of clients' certificates; empty: clients need none.
	ClientCA string
}

// Store has the certificate that is in force. It is safe for concurrent use.
type Store struct {
	files Files
	now   func() time.Time
	log   *slog.Logger

	mu     sync.Mutex
	stamps [3]fs.FileInfo // of the files that were read last
	sum    [sha256.Size]byte
	leaf   *x509.Certificate
	config *tls.Config // in force
	failed error       // why the files are not in force
}

// Open reads the files. It refuses those that a server could not use.
func Open(files Files, now func() time.Time, log *slog.Logger) (*Store, error) {
	s := &Store{files: files, now: now, log: log}
	if s.load(); s.failed != nil {
		return nil, refusal.New(refusal.Invalid, "give a certificate in PEM and its private key, which only the server can read: --tls-cert FILE --tls-key FILE",
			"the server cannot use TLS: %s", s.failed)
	}
	return s, nil
}

// Config returns a configuration whose connections get the certificate in force.
func (s *Store) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: protocols,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return s.current(), nil },
	}
}

var protocols = []string{"h2", "http/1.1"}

// Check reads the files, whether or not they seem to have changed.
func (s *Store) Check() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load()
}

// Err says what is wrong: the files cannot be used, or the certificate in force has less than a tenth of its time left.
func (s *Store) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	left, lasts := s.leaf.NotAfter.Sub(s.now()), s.leaf.NotAfter.Sub(s.leaf.NotBefore)
	switch {
	case s.failed != nil:
		return s.failed
	case left < lasts/10:
		return fmt.Errorf("the certificate in %s is valid until %s and has not been renewed", s.files.Cert, s.leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}

// Leaf returns the certificate in force.
func (s *Store) Leaf() *x509.Certificate {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leaf
}

// current returns the configuration of a new connection.
func (s *Store) current() *tls.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed() {
		s.load()
	}
	return s.config
}

// names are the paths of the files, as far as they are configured.
func (s *Store) names() []string {
	if s.files.ClientCA == "" {
		return []string{s.files.Cert, s.files.Key}
	}
	return []string{s.files.Cert, s.files.Key, s.files.ClientCA}
}

// changed reports whether a file has another time, size or identity than when it was read.
func (s *Store) changed() bool {
	for i, name := range s.names() {
		info, err := os.Stat(name)
		was := s.stamps[i]
		if (err == nil) != (was != nil) || err == nil && (!os.SameFile(info, was) || info.Size() != was.Size() || !info.ModTime().Equal(was.ModTime())) {
			return true
		}
	}
	return false
}

// load reads the files and takes them over if they are whole. It logs what has changed.
func (s *Store) load() {
	var texts [3][]byte
	var err error
	sum := sha256.New()
	for i, name := range s.names() {
		var failed error
		s.stamps[i], texts[i], failed = read(name, i == 1)
		err = errors.Join(err, failed)
		fmt.Fprintf(sum, "%d:%s", len(texts[i]), texts[i])
	}
	if err == nil && s.config != nil && [sha256.Size]byte(sum.Sum(nil)) == s.sum {
		s.settle(nil)
		return
	}
	var pair tls.Certificate
	if err == nil {
		if pair, err = tls.X509KeyPair(texts[0], texts[1]); err != nil {
			err = fmt.Errorf("%s and %s: %w", s.files.Cert, s.files.Key, err)
		}
	}
	var clients *x509.CertPool
	if err == nil && s.files.ClientCA != "" {
		if clients = x509.NewCertPool(); !clients.AppendCertsFromPEM(texts[2]) {
			err = fmt.Errorf("%s has no certificate in PEM", s.files.ClientCA)
		}
	}
	if err == nil && !s.now().Before(pair.Leaf.NotAfter) {
		err = fmt.Errorf("the certificate in %s has been invalid since %s", s.files.Cert, pair.Leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	if err != nil {
		s.settle(err)
		return
	}
	if s.config != nil {
		s.log.Info("the server has a new certificate", "file", s.files.Cert, "valid_until", pair.Leaf.NotAfter.UTC())
	}
	s.config, s.leaf, s.sum = configOf(pair, clients), pair.Leaf, [sha256.Size]byte(sum.Sum(nil))
	s.settle(nil)
}

// settle keeps why the files are not in force, and logs it once.
func (s *Store) settle(err error) {
	was := s.failed
	s.failed = err
	switch {
	case s.config == nil: // Open returns it
	case err != nil && (was == nil || was.Error() != err.Error()):
		s.log.Error("the new certificate cannot be used; the old one stays", "cause", err)
	case err == nil && was != nil:
		s.log.Info("the files of the certificate can be used again")
	}
}

// configOf returns the configuration of connections. A client certificate that is given must be valid; that one is given is checked
// for each call, so that the refusal says what is missing and probes need none.
func configOf(pair tls.Certificate, clients *x509.CertPool) *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: protocols, Certificates: []tls.Certificate{pair}}
	if clients != nil {
		c.ClientAuth, c.ClientCAs = tls.VerifyClientCertIfGiven, clients
		c.SessionTicketsDisabled = true // a session that is resumed would keep the word of a CA that is gone
	}
	return c
}

// read reads a file. Its stamp is nil if there is none.
func read(name string, secret bool) (stamp fs.FileInfo, text []byte, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }()
	if stamp, err = f.Stat(); err != nil {
		return nil, nil, err
	}
	if secret && !private(stamp) {
		return stamp, nil, fmt.Errorf("%s can be read by others (mode %04o): restrict it with chmod 600, or chmod 640 if root owns it", name, stamp.Mode().Perm())
	}
	if text, err = io.ReadAll(io.LimitReader(f, maxFile+1)); err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s is too large: the limit is %d bytes", name, maxFile)
	}
	return stamp, text, err
}
