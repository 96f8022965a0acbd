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

// maxClaim is the maximum length of the name of a claim, in bytes.
const maxClaim = 128

// Config configures the issuer whose tokens are accepted, and the resource they must be for.
type Config struct {
	// Issuer is the URL of the issuer, exactly as in its tokens and metadata.
	Issuer string
	// Resource is the URL of this server for clients, such as https://trapeze.example.org/mcp. A token must have it as audience.
	Resource string
	// Claim is the name of the claim with the name of the agent; empty means [DefaultClaim].
	Claim string
	// Person is the name of the claim with the name of the person at the client of the agent, who answers questions there; empty: tokens name none.
	Person string
	// People are the people that tokens may name, instead of an agent.
	People People
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Log gets the reasons why the issuer cannot be reached; nil means slog.Default().
	Log *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Claim == "" {
		c.Claim = DefaultClaim
	}
	c.People = c.People.withDefaults()
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

// Check refuses an invalid configuration with the code invalid. It sends no requests.
func (c Config) Check() error {
	if _, err := checkURL("the issuer", c.Issuer); err != nil {
		return err
	}
	if _, err := checkURL("the resource", c.Resource); err != nil {
		return err
	}
	for _, name := range []string{c.Claim, c.Person, c.People.Name, c.People.Groups} {
		if len(name) > maxClaim || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return refusal.New(refusal.Invalid, "name a claim of the issuer's tokens, such as sub or client_id", "%.140q is not a valid name of a claim", name)
		}
	}
	return c.People.check()
}

// checkURL refuses URLs that others could read in transit: a URL must be https, or have a loopback address.
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
		return nil, refusal.New(refusal.Invalid, hint, "%s cannot be %.200q: others could read the requests", what, s)
	}
	return u, nil
}

// private reports whether requests to a URL are protected in transit: https, or a loopback address.
func private(u *url.URL) bool {
	host := u.Hostname()
	ip := net.ParseIP(host)
	return u.Scheme == "https" || u.Scheme == "http" && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// wellKnown returns the URL of the metadata of a resource or issuer: the well-known path goes before its own path (RFC 8615).
func wellKnown(u *url.URL, name string) string {
	at := url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/.well-known/" + name + strings.TrimSuffix(u.Path, "/")}
	return at.String()
}

const resourceName = "oauth-protected-resource"

// Metadata is the protected resource metadata for clients (RFC 9728).
type Metadata struct {
	URL      string   // URL of the document, for clients
	Paths    []string // paths at which this server serves it: that of the URL, and the one without the path of the resource
	Document []byte   // JSON
}

// Metadata returns the resource metadata: which issuer has tokens for this server.
func (v *Verifier) Metadata() Metadata {
	words := make([]string, 0, len(identity.AllScopes()))
	for _, s := range identity.AllScopes() {
		words = append(words, string(s))
	}
	members := map[string]any{
		"resource": v.config.Resource, "resource_name": "Trapeze", "authorization_servers": []string{v.config.Issuer},
		"scopes_supported": words, "bearer_methods_supported": []string{"header"},
	}
	if p := v.config.People; p.Client != "" { // RFC 9728 allows members of our own: they tell trapeze login how people sign in
		members["trapeze_client_id"], members["trapeze_scope"] = p.Client, strings.Join(p.Scopes, " ")
	}
	doc, err := json.Marshal(members)
	if err != nil {
		panic(err) // strings can be marshalled
	}
	m := Metadata{URL: wellKnown(v.resource, resourceName), Document: doc, Paths: []string{"/.well-known/" + resourceName}}
	if path := strings.TrimSuffix(v.resource.Path, "/"); path != "" {
		m.Paths = append(m.Paths, m.Paths[0]+path)
	}
	return m
}
