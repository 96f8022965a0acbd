package oauth

import (
	"encoding/json"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// DefaultClaim is the claim that names the agent unless another is configured.
const DefaultClaim = "sub"

// maxClaim is the most bytes that a claim's name may have.
const maxClaim = 128

// Config says whose tokens count, and for what.
type Config struct {
	// Issuer is the issuer's URL, exactly as its tokens and its metadata have it.
	Issuer string
	// Resource is this server's URL as clients know it, which a token must name as its audience, such as
	// https://trapeze.example.org/mcp.
	Resource string
	// Claim names the agent; empty: [DefaultClaim].
	Claim string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Log gets why the issuer cannot be asked; nil means slog.Default().
	Log *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Claim == "" {
		c.Claim = DefaultClaim
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

// Check refuses (invalid) what cannot be. It asks nobody.
func (c Config) Check() error {
	if _, err := checkURL("the issuer", c.Issuer); err != nil {
		return err
	}
	if _, err := checkURL("the resource", c.Resource); err != nil {
		return err
	}
	if len(c.Claim) > maxClaim || strings.ContainsFunc(c.Claim, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return refusal.New(refusal.Invalid, "name a claim of the issuer's tokens, such as sub or client_id", "%.140q cannot be the name of a claim", c.Claim)
	}
	return nil
}

// checkURL refuses what others could read on the way: it must be https, or stay on this machine.
func checkURL(what, s string) (*url.URL, error) {
	const hint = "use an https URL without user, parameters and fragment, or http with a loopback address"
	if s == "" {
		return nil, refusal.New(refusal.Invalid, "name both: --oauth-issuer URL --oauth-resource URL", "%s is missing", what)
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || strings.Contains(s, "#") {
		return nil, refusal.New(refusal.Invalid, hint, "%s cannot be %.200q", what, s)
	}
	if !private(u) {
		return nil, refusal.New(refusal.Invalid, hint, "%s cannot be %.200q: others could read what goes there", what, s)
	}
	return u, nil
}

// private reports whether nobody on the way can read or change what is had from a URL.
func private(u *url.URL) bool {
	host := u.Hostname()
	ip := net.ParseIP(host)
	return u.Scheme == "https" || u.Scheme == "http" && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// wellKnown is where the metadata of a resource or an issuer is, by RFC 8615: before its path.
func wellKnown(u *url.URL, name string) string {
	at := url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/.well-known/" + name + strings.TrimSuffix(u.Path, "/")}
	return at.String()
}

const resourceName = "oauth-protected-resource"

// Metadata is what clients are told of a resource (RFC 9728).
type Metadata struct {
	URL      string   // where clients find the document
	Paths    []string // at which this server has it: the same URL's, and the one without the resource's path
	Document []byte   // JSON
}

// Metadata says where tokens for this server are had.
func (v *Verifier) Metadata() Metadata {
	words := make([]string, 0, len(identity.AllScopes()))
	for _, s := range identity.AllScopes() {
		words = append(words, string(s))
	}
	doc, err := json.Marshal(map[string]any{
		"resource": v.config.Resource, "resource_name": "Trapeze", "authorization_servers": []string{v.config.Issuer},
		"scopes_supported": words, "bearer_methods_supported": []string{"header"},
	})
	if err != nil {
		panic(err) // strings can be marshalled
	}
	m := Metadata{URL: wellKnown(v.resource, resourceName), Document: doc, Paths: []string{"/.well-known/" + resourceName}}
	if path := strings.TrimSuffix(v.resource.Path, "/"); path != "" {
		m.Paths = append(m.Paths, m.Paths[0]+path)
	}
	return m
}
