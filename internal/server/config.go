package server

import (
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/api/oauth"
	"github.com/trapezehq/trapeze/internal/delivery/notify"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact"
)

// DefaultAddr is where the server listens unless told otherwise: this machine only.
const DefaultAddr = "127.0.0.1:8727"

// Config says how to run a server. Zero fields mean the default; DataDir has none.
type Config struct {
	DataDir string
	Addr    string // host:port; port 0 takes a free one
	// Hosts are further names under which the server may be reached, such as a proxy's, beside loopback names and
	// addresses. A request under any other name is refused.
	Hosts []string
	// Version is what the server says of itself.
	Version   string
	Log       *slog.Logger // nil means no log
	Now       func() time.Time
	Artifacts ArtifactConfig
	// Policy is the policy file of the default workspace; empty: policy.yaml in the data directory, if it is there. That of
	// another workspace is beside it, with the workspace's name before its extension: policy.WORKSPACE.yaml.
	Policy string
	// Notify is how people are told that they are asked: log, webhook:URL or exec:PROGRAM. Empty: not at all.
	Notify []string
	// OAuth says whose tokens count beside the server's own; without an issuer and a resource, nobody's.
	OAuth oauth.Config
	// Drain is how long calls under way may take when the server stops; 0 means 10 seconds.
	Drain time.Duration
}

// ArtifactConfig says what artifacts are kept. Zero fields mean the default.
type ArtifactConfig struct {
	MaxSize int64          // bytes of one; 0 means [artifact.DefaultMaxSize]
	Quota   artifact.Quota // of each workspace
	Grace   time.Duration  // how long what nothing refers to is kept; 0 means [artifacts.DefaultGrace]
	Every   time.Duration  // how often is swept; 0 means an hour
}

func (c Config) withDefaults() Config {
	if c.Addr == "" {
		c.Addr = DefaultAddr
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
	if c.Drain == 0 {
		c.Drain = 10 * time.Second
	}
	return c
}

// check refuses an address that other machines could reach: without TLS, tokens would travel in the clear.
func (c Config) check() error {
	if c.DataDir == "" {
		return refusal.New(refusal.Invalid, "name a directory", "the server needs a data directory")
	}
	host, _, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return refusal.New(refusal.Invalid, "use host:port, such as "+DefaultAddr, "%q is not an address to listen on", c.Addr)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return refusal.New(refusal.Invalid, "use 127.0.0.1, ::1 or localhost, and put a proxy with TLS before it",
			"%q can be reached from other machines, and tokens would travel in the clear", c.Addr)
	}
	if _, err := c.sinks(); err != nil {
		return err
	}
	if c.hasIssuer() {
		if err := c.OAuth.Check(); err != nil {
			return err
		}
	}
	for _, h := range c.Hosts {
		if h == "" || strings.HasSuffix(h, ".") || strings.ContainsFunc(h, func(r rune) bool { return !strings.ContainsRune(hostRunes, r) }) {
			return refusal.New(refusal.Invalid, "use a name without scheme and port, such as trapeze.example.org", "%q is not a host's name", h)
		}
	}
	return nil
}

// hasIssuer reports whether anything is said of an issuer of tokens; half of it is refused.
func (c Config) hasIssuer() bool {
	return c.OAuth.Issuer != "" || c.OAuth.Resource != "" || c.OAuth.Claim != ""
}

// hostRunes are those of a host's name. Names in other scripts are written in their xn-- form.
const hostRunes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"

// sinks are where people are told that they are asked.
func (c Config) sinks() ([]notify.Sink, error) {
	var list []notify.Sink
	for _, spec := range c.Notify {
		s, err := notify.Parse(spec, c.Log)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list, func(o notify.Sink) bool { return o.Name() == s.Name() }) {
			return nil, refusal.New(refusal.Invalid, "name each once", "people are notified twice by %s", s.Name())
		}
		list = append(list, s)
	}
	return list, nil
}
