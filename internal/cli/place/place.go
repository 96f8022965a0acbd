package place

import (
	"cmp"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Place says where a record is that several servers share. The zero value: it is in the data directory.
type Place struct {
	Postgres string // URL of a PostgreSQL database
	NATS     NATS
	Node     Node
}

// NATS is a NATS cluster that is there.
type NATS struct {
	URL             string // of servers, separated by commas; empty: none
	Credentials, CA string // files
	Monitors        []string
}

// Node is the node of a cluster that runs in the process of the server.
type Node struct {
	Cluster       string // its name; empty: there is no node
	Name, Addr    string
	Join          []string
	Cert, Key, CA string // files
	Secret        string // the text, not a file
}

// Flags adds the flags of a place to a command. [Place.Complete] reads what is given otherwise.
func (p *Place) Flags(f *pflag.FlagSet) {
	f.StringVar(&p.Postgres, "postgres", "", "URL of the PostgreSQL database that has the record, which other servers may share; a password is better in TRAPEZE_POSTGRES (see docs/cluster.md)")
	f.StringVar(&p.NATS.URL, "nats", "", "URLs of the NATS servers that have the record, which other servers may share, separated by commas; a password is better in TRAPEZE_NATS (see docs/cluster.md)")
	f.StringVar(&p.NATS.Credentials, "nats-creds", "", "file with the credentials for those servers")
	f.StringVar(&p.NATS.CA, "nats-ca", "", "file with the CA of those servers (default: those of the system)")
	f.StringSliceVar(&p.NATS.Monitors, "nats-monitor", nil, "address of the monitoring of each of those servers, such as http://HOST:8222 (repeatable): they must sync each write")
}

// NodeFlags adds the flags of a node, whose secret is in TRAPEZE_CLUSTER_SECRET.
func (p *Place) NodeFlags(f *pflag.FlagSet) {
	f.StringVar(&p.Node.Cluster, "cluster-name", "", "name of a cluster of servers that have the record together: this one is a node of it (see docs/cluster.md)")
	f.StringVar(&p.Node.Addr, "cluster-addr", "127.0.0.1:6222", "host:port at which the other nodes reach this one")
	f.StringSliceVar(&p.Node.Join, "join", nil, "addresses of the nodes: all of them when a cluster starts for the first time, later those that are there")
	f.StringVar(&p.Node.Name, "node", "", "name of this node, which it keeps (default: made of the name of the machine)")
	f.StringVar(&p.Node.Cert, "cluster-cert", "", "file with the certificate of this node, for the others; required off the loopback")
	f.StringVar(&p.Node.Key, "cluster-key", "", "file with the private key of that certificate")
	f.StringVar(&p.Node.CA, "cluster-ca", "", "file with the CA of the certificates of all nodes, and of nothing else: it lets a node in")
}

// Args is the flags of a node as they were given, for another command. The secret is not in them.
func (n Node) Args() (args []string) {
	for _, f := range [][2]string{
		{"cluster-name", n.Cluster},
		{"node", n.Name},
		{"cluster-addr", n.Addr},
		{"join", strings.Join(n.Join, ",")},
		{"cluster-cert", n.Cert},
		{"cluster-key", n.Key},
		{"cluster-ca", n.CA},
	} {
		if f[1] != "" {
			args = append(args, "--"+f[0], f[1])
		}
	}
	return args
}

// Complete reads what is given by environment variables: TRAPEZE_POSTGRES, TRAPEZE_NATS, TRAPEZE_CLUSTER_SECRET.
func (p *Place) Complete(getenv func(string) string) error {
	if p.Node.Cluster == "" && p.NATS.URL == "" {
		p.Postgres = cmp.Or(p.Postgres, getenv("TRAPEZE_POSTGRES"))
	}
	if p.Node.Cluster == "" && p.Postgres == "" {
		p.NATS.URL = cmp.Or(p.NATS.URL, getenv("TRAPEZE_NATS"))
	}
	p.Node.Secret = getenv("TRAPEZE_CLUSTER_SECRET")
	return p.Check()
}

// Check refuses flags that do not go together, and files that are not there.
func (p *Place) Check() error {
	n := p.Node
	switch {
	case n.Cluster == "" && (len(n.Join) > 0 || n.Name != "" || n.Cert != "" || n.Key != "" || n.CA != ""):
		return shell.Hinted(shell.Usagef("a node of a cluster needs the name of the cluster"), "add --cluster-name NAME, the same at each node")
	case n.Cluster != "" && len(n.Join) == 0:
		return shell.Hinted(shell.Usagef("a node of a cluster needs the addresses of the others"), "add --join HOST:6222,HOST:6222,HOST:6222, the same at each node")
	case n.Cluster != "" && (p.Postgres != "" || p.NATS.URL != ""), p.Postgres != "" && p.NATS.URL != "":
		return shell.Hinted(shell.Usagef("the record is in one place only: --cluster-name, --nats and --postgres do not go together"), "omit all but one")
	case p.NATS.URL == "" && (p.NATS.Credentials != "" || p.NATS.CA != "" || len(p.NATS.Monitors) > 0):
		return shell.Hinted(shell.Usagef("--nats-creds, --nats-ca and --nats-monitor are for a NATS cluster that is there"), "add --nats URL")
	}
	for _, file := range []string{n.Cert, n.Key, n.CA, p.NATS.Credentials, p.NATS.CA} {
		if file == "" {
			continue
		}
		if _, err := os.Stat(file); err != nil {
			return shell.Usage(err)
		}
	}
	return nil
}

// IsShared reports whether the place is somewhere else than in the data directory.
func (p *Place) IsShared() bool {
	return p.Postgres != "" || p.NATS.URL != "" || p.Node.Cluster != ""
}

// HasSecret reports whether a URL was given by a flag in which other users of the machine could see a password.
func (p *Place) HasSecret() bool {
	return p.Postgres != "" || strings.Contains(p.NATS.URL, "@")
}
