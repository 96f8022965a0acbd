package natsnode

import (
	"cmp"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/record/ledger/natslog"
)

// DefaultPort is the port for other nodes, if an address has none.
const DefaultPort = 6222

// minSecret is the shortest secret, in characters.
const minSecret = 20

// Options of a node.
type Options struct {
	// Cluster is the name of the cluster; nodes of another do not join it.
	Cluster string
	// Name is the name of the node, which no other has, and which it keeps: its replicas are known by it. Empty: the one that the directory has, which
	// is made of the name of the machine at the first start.
	Name string
	// Dir is the directory of the replicas.
	Dir string
	// Addr is the address to listen on for other nodes, host:port.
	Addr string
	// Join are the addresses of all nodes, or of those that were there before this one; its own may be among them. The first start of a cluster
	// needs all of them at each node: a majority of so many must be there.
	Join []string
	// Advertise is the address that others are told of, host:port; empty means Addr. Nodes that a test may part reach each other by Join alone, so that they
	// are told of one at which nothing listens.
	Advertise string
	// Secret is what nodes show each other. Without certificates it is required: otherwise any program of the machine could join.
	Secret string
	// Cert, Key and CA are PEM files: the certificate of the node, its key, and the CA of the certificates of all nodes.
	Cert, Key, CA string
	Log           *slog.Logger // nil means no log
}

func (o Options) check() error {
	switch {
	case o.Cluster == "" || strings.ContainsAny(o.Cluster, " \t\r\n.*>"):
		return fmt.Errorf("natsnode: %q is no name of a cluster: use letters, digits and hyphens", o.Cluster)
	case strings.ContainsAny(o.Name, " \t\r\n.*>/"):
		return fmt.Errorf("natsnode: %q is no name of a node: use letters, digits and hyphens", o.Name)
	case len(o.Join) == 0:
		return errors.New("natsnode: a node needs the addresses of the others")
	case (o.Cert == "") != (o.Key == "") || (o.Cert == "") != (o.CA == ""):
		return errors.New("natsnode: a node needs a certificate, its key, and the CA of the others, or none of them on the loopback")
	}
	if o.Cert != "" {
		return nil
	}
	if len(o.Secret) < minSecret {
		return fmt.Errorf("natsnode: nodes without certificates need a secret of at least %d characters, the same at each: otherwise any program of the machine could join the cluster", minSecret)
	}
	for _, addr := range append([]string{o.Addr}, o.Join...) {
		host, _, err := split(addr)
		if err != nil {
			return err
		}
		if !natslog.IsLocal(host) {
			return fmt.Errorf("natsnode: %s is not on this machine, and entries would go there unencrypted: give the nodes certificates", addr)
		}
	}
	return nil
}

// split returns the host and the port of an address for nodes.
func split(addr string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return strings.Trim(addr, "[]"), DefaultPort, nil //nolint:nilerr // it has no port
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("natsnode: %q is no address of a node: use host:port", addr)
	}
	return host, int(n), nil
}

// routes are the addresses of the other nodes as URLs.
func (o Options) routes() (list []*url.URL, err error) {
	for _, addr := range o.Join {
		host, port, err := split(addr)
		if err != nil {
			return nil, err
		}
		to := &url.URL{Scheme: "nats-route", Host: net.JoinHostPort(host, strconv.Itoa(port))}
		if o.Secret != "" {
			to.User = url.UserPassword(user, o.Secret)
		}
		list = append(list, to)
	}
	return list, nil
}

// account is the name that goes with the secret.
func (o Options) account() string {
	if o.Secret == "" {
		return ""
	}
	return user
}

// nameFile is the file that keeps the name of a node.
const nameFile = "node"

// name returns the name of the node, which its directory keeps. Another one than before is refused: replicas would be lost to it.
func (o Options) name() (string, error) {
	path := filepath.Join(o.Dir, nameFile)
	kept, err := os.ReadFile(path) //nolint:gosec // the operator's directory
	was := strings.TrimSpace(string(kept))
	switch {
	case err == nil && was != "" && (o.Name == "" || o.Name == was):
		return was, nil
	case err == nil && was != "":
		return "", fmt.Errorf("natsnode: the directory %s is of the node %s, not of %s: a node keeps its name", o.Dir, was, o.Name)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	name := o.Name
	if name == "" {
		host, _ := os.Hostname() // it may have none
		host, _, _ = strings.Cut(host, ".")
		name = cmp.Or(host, "node") + "-" + strings.ToLower(rand.Text()[:6])
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return "", err
	}
	return name, os.WriteFile(path, []byte(name+"\n"), 0o600)
}

// tls returns the configuration for connections between nodes; nil: there is none.
func (o Options) tls() (*tls.Config, error) {
	if o.Cert == "" {
		return nil, nil //nolint:nilnil // none is needed on the loopback
	}
	text, err := os.ReadFile(o.CA)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("natsnode: %s has no certificate of a CA in PEM", o.CA)
	}
	if _, err := tls.LoadX509KeyPair(o.Cert, o.Key); err != nil {
		return nil, err
	}
	load := func() (*tls.Certificate, error) { // renewed by replacing the files
		c, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		return &c, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, RootCAs: pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
		GetCertificate:       func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return load() },
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return load() },
	}, nil
}
