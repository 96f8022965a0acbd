package certtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// CA is a certificate authority of a test.
type CA struct {
	File string // its certificate in PEM

	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Pair are the files of a certificate and its private key.
type Pair struct{ Cert, Key string }

// NewCA makes a CA in a directory of the test.
func NewCA(t testing.TB) *CA {
	t.Helper()
	ca := &CA{File: filepath.Join(t.TempDir(), "ca.pem"), t: t}
	template := &x509.Certificate{
		SerialNumber: serial(t), Subject: pkix.Name{CommonName: "CA of a test"}, NotBefore: from, NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	ca.cert, ca.key = ca.sign(template, ca.File)
	return ca
}

// The certificates are valid whatever time a test plays in.
var (
	from  = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	until = time.Date(2120, time.January, 1, 0, 0, 0, 0, time.UTC)
)

// Issue makes a certificate for names and addresses, which is also one for clients, in a directory of the test.
func (ca *CA) Issue(names ...string) Pair {
	ca.t.Helper()
	p := InDirectory(ca.t.TempDir())
	ca.Renew(p, names...)
	return p
}

// InDirectory are the paths of a pair in a directory.
func InDirectory(dir string) Pair {
	return Pair{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
}

// Renew replaces the files of a pair with those of a new certificate, which is valid for a long time.
func (ca *CA) Renew(p Pair, names ...string) {
	ca.t.Helper()
	ca.RenewUntil(p, until, names...)
}

// RenewUntil is Renew for a certificate that is valid until a time.
func (ca *CA) RenewUntil(p Pair, end time.Time, names ...string) {
	ca.t.Helper()
	template := &x509.Certificate{
		SerialNumber: serial(ca.t), Subject: pkix.Name{CommonName: "server of a test"}, NotBefore: from, NotAfter: end,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	_, key := ca.sign(template, p.Cert)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		ca.t.Fatal(err)
	}
	ca.write(p.Key, "PRIVATE KEY", der)
}

// sign makes a key and its certificate, which is written to a file. The CA signs itself.
func (ca *CA) sign(template *x509.Certificate, file string) (*x509.Certificate, *ecdsa.PrivateKey) {
	ca.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		ca.t.Fatal(err)
	}
	parent, by := ca.cert, ca.key
	if parent == nil {
		parent, by = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	if err != nil {
		ca.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		ca.t.Fatal(err)
	}
	ca.write(file, "CERTIFICATE", der)
	return cert, key
}

// write replaces a file at once, as programs that renew certificates do.
func (ca *CA) write(file, kind string, der []byte) {
	ca.t.Helper()
	err := os.WriteFile(file+".new", pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
	if err == nil {
		err = os.Rename(file+".new", file)
	}
	if err != nil {
		ca.t.Fatal(err)
	}
}

// Pool returns a pool with the CA alone.
func (ca *CA) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	return pool
}

func serial(t testing.TB) *big.Int {
	n, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
