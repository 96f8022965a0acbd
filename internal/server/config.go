package server

import (
	"io"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/api/oauth"
	"github.com/trapezehq/trapeze/internal/api/otelapi"
	"github.com/trapezehq/trapeze/internal/delivery/notify"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/server/certificate"
	"github.com/trapezehq/trapeze/internal/server/garbage"
	"github.com/trapezehq/trapeze/internal/server/sharedrecord"
)

// DefaultAddr is the default address to listen on: only this machine can reach it.
const DefaultAddr = "127.0.0.1:8727"

// Config is the configuration of a server. Zero fields mean the default; DataDir has none.
type Config struct {
	DataDir string
	// Temporary keeps the data in a new directory, in memory where the system has a file system in memory, and removes it when the
	// server is closed. DataDir must be empty.
	Temporary bool
	// Record is where the record is that other servers may share; the zero value: it is in the data directory.
	Record Place
	Addr   string // host:port; port 0 selects a free port
	// Hosts are host names under which the server can be reached, such as that of a proxy, besides loopback names and
	// addresses. A request for any other host is refused.
	Hosts []string
	// TLS are the files of the server's certificate, which are read again when they change; empty: the server listens without TLS, which
	// is refused where other machines could reach it.
	TLS certificate.Files
	// BehindProxy says that a proxy in front of the server does TLS, so that it can listen without where other machines reach it.
	BehindProxy bool
	// Version is the version that the server reports.
	Version string
	Log     *slog.Logger // nil means no log
	Now     func() time.Time
	// Clock takes the place of Now, and can be moved by [Server.Advance] and by administrators; nil: the clock cannot be moved.
	// It is for tests.
	Clock     *Clock
	Artifacts ArtifactConfig
	// Policy is the policy file of the default workspace; empty: policy.yaml in the data directory, if it exists. The file of
	// another workspace is in the same directory, with the workspace before the extension: policy.WORKSPACE.yaml.
	Policy string
	// Notify lists the sinks for notices about tickets: log, webhook:URL or exec:PROGRAM. Empty: none.
	Notify []string
	// Alerts lists the sinks for alerts: log, webhook:URL, exec:PROGRAM, or file:PATH for a file that has one sink in each line, which can
	// also be URLs of services. A sink may begin with a severity and "=": it gets alerts that are at least as severe. Empty: none.
	Alerts []string
	// Witnesses are asked to cosign the checkpoints of the record: URL=KEY each.
	Witnesses []string
	// OAuth configures an issuer whose tokens the server accepts besides its own; without an issuer and a resource, none.
	OAuth oauth.Config
	// Memory is the memory, in bytes, that the process is to stay near: the garbage collector runs more often before it is exceeded,
	// and a server that is idle gives back what it does not use. 0 means [garbage.DefaultMemory], or [garbage.SharedMemory] for a record that is shared. It is no hard limit: see package garbage.
	Memory int64
	// FigureAgents is the number of agents that figures name; those beyond are counted as one. 0 means 1,000.
	FigureAgents int
	// Erasable seals the content that is recorded from now on, so that it can be erased; a directory that was opened so once stays so.
	Erasable bool
	// RebuildViews builds the views again from the ledger before the server answers: about a minute per million entries.
	RebuildViews bool
	// Drain is the time limit for calls in progress when the server stops; 0 means 10 seconds.
	Drain time.Duration
}

// ArtifactConfig bounds the artifacts. Zero fields mean the default.
type ArtifactConfig struct {
	MaxSize int64          // bytes of one; 0 means [artifact.DefaultMaxSize]
	Quota   artifact.Quota // of each workspace
	Grace   time.Duration  // how long artifacts without references are kept; 0 means [artifacts.DefaultGrace]
	Every   time.Duration  // the interval of sweeps; 0 means an hour
}

func (c Config) withDefaults() Config {
	if c.Addr == "" {
		c.Addr = DefaultAddr
		if c.Temporary {
			c.Addr = "127.0.0.1:0"
		}
	}
	if c.Clock != nil {
		c.Now = c.Clock.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Artifacts.Every == 0 {
		c.Artifacts.Every = time.Hour
	}
	if c.Memory == 0 {
		c.Memory = garbage.DefaultMemory
		if c.Record.Kind() != sharedrecord.None {
			c.Memory = garbage.SharedMemory
		}
	}
	if c.Drain == 0 {
		c.Drain = 10 * time.Second
	}
	return c
}

// check refuses invalid configurations.
func (c Config) check() error {
	if c.Temporary && c.DataDir != "" {
		return refusal.New(refusal.Invalid, "name no directory", "a server with temporary data makes a data directory of its own")
	}
	if c.DataDir == "" && !c.Temporary {
		return refusal.New(refusal.Invalid, "name a directory", "the server needs a data directory")
	}
	if err := c.checkShared(); err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return refusal.New(refusal.Invalid, "use host:port, such as "+DefaultAddr, "%q is not an address to listen on", c.Addr)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return refusal.New(refusal.Invalid, "use a port from 1 to 65535, or 0 for a free one", "%q is not an address to listen on: %q is not a port", c.Addr, port)
	}
	if err := c.checkReach(host); err != nil {
		return err
	}
	if _, err := c.sinks(); err != nil {
		return err
	}
	if _, err := c.alertSinks(); err != nil {
		return err
	}
	if _, err := c.witnesses(); err != nil {
		return err
	}
	if err := otelapi.CheckEnvironment(); err != nil && !c.Temporary { // a program's tests may run where its own settings are
		return err
	}
	if c.FigureAgents < 0 {
		return refusal.New(refusal.Invalid, "use a number above 0, or omit it", "%d is not a number of agents", c.FigureAgents)
	}
	if c.hasIssuer() {
		if err := c.OAuth.Check(); err != nil {
			return err
		}
	}
	for _, h := range c.Hosts {
		if h == "" || strings.HasSuffix(h, ".") || strings.ContainsFunc(h, func(r rune) bool { return !strings.ContainsRune(hostRunes, r) }) {
			return refusal.New(refusal.Invalid, "use a name without scheme and port, such as trapeze.example.org", "%q is not a host name", h)
		}
	}
	return nil
}

// hasIssuer reports whether an issuer is configured, completely or not; check refuses an incomplete one.
func (c Config) hasIssuer() bool {
	o := c.OAuth
	return o.Issuer != "" || o.Resource != "" || o.Claim != "" || o.Person != "" || o.People.Client != "" || o.People.Roles != nil
}

// hostRunes are the characters of host names. Names in other scripts are written in their xn-- form.
const hostRunes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"

// sinks returns the sinks for notices about tickets.
func (c Config) sinks() ([]notify.Sink, error) {
	var list []notify.Sink
	for _, spec := range c.Notify {
		s, err := notify.Parse(spec, c.Log)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list, func(o notify.Sink) bool { return o.Name() == s.Name() }) {
			return nil, refusal.New(refusal.Invalid, "name each sink once", "the sink %s is given twice", s.Name())
		}
		list = append(list, s)
	}
	return list, nil
}
