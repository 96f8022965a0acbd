package natsnode

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/trapezehq/trapeze/internal/record/ledger/natslog"
)

// ErrFilling is why a node waits while a record is restored into the cluster.
var ErrFilling = natslog.ErrFilling

// Node is a running node.
type Node struct {
	server   *server.Server
	options  *server.Options
	log      logger
	name     string
	password string // of connections inside the process
	stopping chan struct{}
	kept     chan struct{} // closed when keepAlive has ended
	stop     sync.Once
}

const user = "trapeze"

// systemUser may change which nodes the cluster has, in the account of the server itself.
const (
	systemUser    = "system"
	systemAccount = "$SYS"
)

// stopTimeout is the time for the leaders on a node that stops to be elected elsewhere.
const stopTimeout = 10 * time.Second

// startTimeout is the time for a node to listen, after it has read its replicas.
const startTimeout = 30 * time.Second

// A node that is paused, or whose network is gone, is noticed after so many intervals without an answer. Until then a third of the reads go to it, and wait.
const (
	routePing  = 2 * time.Second
	routePings = 2
)

// readyPoll is the time between two looks for a reason why a node does not start.
const readyPoll = 100 * time.Millisecond

// Start starts a node. It takes connections when it returns, and joins the others by itself.
func Start(o Options) (*Node, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	routes, err := o.routes()
	if err != nil {
		return nil, err
	}
	host, port, err := split(o.Addr)
	if err != nil {
		return nil, err
	}
	secured, err := o.tls()
	if err != nil {
		return nil, err
	}
	name, err := o.name()
	if err != nil {
		return nil, err
	}
	if err := checkReplicas(o.Dir, o.Log); err != nil {
		return nil, err
	}
	password := rand.Text()
	system := server.NewAccount(systemAccount)
	options := &server.Options{
		// A server that does not listen for clients never listens for other nodes. So it does, on the loopback, and nobody else has the password.
		ServerName: name, Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true,
		Users:    []*server.User{{Username: user, Password: password}, {Username: systemUser, Password: password, Account: system}},
		Accounts: []*server.Account{system}, SystemAccount: systemAccount,
		MaxPayload: natslog.MaxPayload, MaxPending: 64 << 20, WriteDeadline: 10 * time.Second,
		JetStream: true, StoreDir: o.Dir, SyncAlways: true, DisableJetStreamBanner: true,
		Cluster: server.ClusterOpts{
			Name: o.Cluster, Host: host, Port: port, TLSConfig: secured, TLSTimeout: 5, PoolSize: 1, Advertise: o.Advertise, Username: o.account(), Password: o.Secret,
			PingInterval: routePing, MaxPingsOut: routePings,
		},
		Routes: routes,
	}
	s, err := server.NewServer(options.Clone())
	if err != nil {
		return nil, fmt.Errorf("natsnode: %w", err)
	}
	free, err := net.Listen("tcp", o.Addr) //nolint:noctx // closed at once: the server would log that the address is in use, and go on without it
	if err != nil {
		return nil, fmt.Errorf("natsnode: this node cannot use its address for the other nodes: %w", err)
	}
	_ = free.Close()
	log := logger{o.Log, make(chan string, 1)}
	s.SetLogger(log, false, false)
	s.Start()
	if err := ready(s, log.fatal); err != nil {
		s.Shutdown()
		return nil, err
	}
	n := &Node{server: s, options: options, log: log, name: name, password: password, stopping: make(chan struct{}), kept: make(chan struct{})}
	go n.keepAlive()
	w := &watch{hears: n.Hears, groups: n.replicas, died: o.allDied, stand: n.stand, askAgain: n.askAgain}
	go w.run(n.stopping)
	return n, nil
}

// ready waits until the server takes connections. A server that cannot go on only logs why.
func ready(s *server.Server, fatal <-chan string) error {
	for end := time.Now().Add(startTimeout); time.Now().Before(end); {
		select {
		case reason := <-fatal:
			return fmt.Errorf("natsnode: the node does not start: %s", reason)
		default:
		}
		if s.ReadyForConnections(readyPoll) {
			return nil
		}
	}
	return fmt.Errorf("natsnode: the node does not listen within %s", startTimeout)
}

// Name is what other nodes know the node by.
func (n *Node) Name() string { return n.name }

// Connect returns a connection to the node, inside the process.
func (n *Node) Connect() (*nats.Conn, error) {
	return nats.Connect("", append(natslog.ConnectOptions(), nats.InProcessServer(n.server), nats.UserInfo(user, n.password))...)
}

// URL is for programs of this machine that may read and write everything. It has a password, which ends with the node.
func (n *Node) URL() string {
	u, err := url.Parse(n.server.ClientURL())
	if err != nil {
		return ""
	}
	u.User = url.UserPassword(user, n.password)
	return u.String()
}

// Addr returns the address for other nodes.
func (n *Node) Addr() string { return n.server.ClusterAddr().String() }

// Hears returns the names of the other nodes to which there is a connection now.
func (n *Node) Hears() (names []string) {
	routes, err := n.server.Routez(nil)
	if err != nil {
		return nil
	}
	for _, r := range routes.Routes {
		if !slices.Contains(names, r.RemoteName) {
			names = append(names, r.RemoteName)
		}
	}
	slices.Sort(names)
	return names
}

// Stop stops the node. It first lets the others have what it leads, if ctx leaves the time for that.
func (n *Node) Stop(ctx context.Context) error {
	n.stop.Do(func() { close(n.stopping) })
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-n.kept            // JetStream is not started any more
		n.server.Shutdown() // steps down from what it leads
		n.server.WaitForShutdown()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(stopTimeout):
		return errors.New("natsnode: the node does not stop")
	}
}

// logger writes what the server logs. Its notices are of interest only when something is looked for.
type logger struct {
	to    *slog.Logger
	fatal chan string // the first reason why the server cannot go on
}

// expected begins what the server reports of each start, and while a node is alone, which is said otherwise: package sharedrecord tells whom it hears.
var expected = []string{"Plaintext passwords", "Waiting for routing", "JetStream has not established contact", "Metalayer blocking snapshot"}

// wentAway reports whether a text says that a program has connected and ended that, as nodes do that look who lives.
func wentAway(text string) bool {
	return strings.Contains(text, "TLS route handshake error") && (strings.HasSuffix(text, "EOF") || strings.HasSuffix(text, "reset by peer"))
}

// notStarted reports whether a text says that another node was not started yet. Any other reason why there is no route to it is one to look for.
func notStarted(text string) bool {
	return strings.HasPrefix(text, "Error trying to connect to route") && strings.Contains(text, "refused")
}

func (l logger) write(level slog.Level, format string, args []any) {
	text := fmt.Sprintf(format, args...)
	if notStarted(text) || wentAway(text) || slices.ContainsFunc(expected, func(begin string) bool { return strings.HasPrefix(text, begin) }) {
		level = slog.LevelDebug
	}
	if l.to != nil {
		l.to.Log(context.Background(), level, text, "component", "nats")
	}
}

func (l logger) Fatalf(format string, args ...any) {
	l.write(slog.LevelError, format, args)
	select {
	case l.fatal <- fmt.Sprintf(format, args...):
	default:
	}
}

func (l logger) Noticef(format string, args ...any) { l.write(slog.LevelDebug, format, args) }
func (l logger) Warnf(format string, args ...any)   { l.write(slog.LevelWarn, format, args) }
func (l logger) Errorf(format string, args ...any)  { l.write(slog.LevelError, format, args) }
func (l logger) Debugf(format string, args ...any)  { l.write(slog.LevelDebug, format, args) }
func (l logger) Tracef(format string, args ...any)  { l.write(slog.LevelDebug, format, args) }
