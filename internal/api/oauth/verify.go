package oauth

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// leeway is the accepted difference of the clocks of issuer and server.
const leeway = 30 * time.Second

// algorithms are the accepted signature algorithms: those with public keys, and none with a shared secret.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA,
}

// types are the accepted types in the header of a token. RFC 9068 requires one of the first two; older issuers write the third or none.
// A token for another purpose does not have this server as audience.
var types = []string{"at+jwt", "application/at+jwt", "jwt", ""}

// Verifier checks the tokens of one issuer for one resource. It is safe for concurrent use.
type Verifier struct {
	config   Config
	resource *url.URL
	issuer   *issuer
}

// New returns a verifier. It sends no request to the issuer before the first token arrives.
func New(c Config) (*Verifier, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	resource, err := checkURL("the resource", c.Resource)
	if err != nil {
		return nil, err
	}
	return &Verifier{config: c, resource: resource, issuer: newIssuer(c)}, nil
}

// Vouch verifies a token and returns the principal that it belongs to. The refusals are unauthenticated for an invalid token, and
// unavailable while the keys of the issuer cannot be fetched. Claims are checked before the signature, so that a token for another server
// causes no request to the issuer.
func (v *Verifier) Vouch(ctx context.Context, token string) (identity.ExternalToken, error) {
	c, err := v.verified(ctx, token)
	if err != nil {
		return identity.ExternalToken{}, err
	}
	return v.voucher(c)
}

// verified returns the claims of a token that is accepted.
func (v *Verifier) verified(ctx context.Context, token string) (claims, error) {
	head, said, err := peek(token)
	if err != nil {
		return nil, err
	}
	if err := checkHead(head); err != nil {
		return nil, err
	}
	if err := v.check(said); err != nil {
		return nil, err
	}
	if v.isSignIn(said) && strings.HasSuffix(strings.ToLower(head.text("typ")), "at+jwt") {
		return nil, refused(v.another(), "the access token is for the audience %.200q", said.list("aud"))
	}
	ring := &keyring{issuer: v.issuer, head: head}
	options := &oidc.Config{SupportedSigningAlgs: algorithms, SkipClientIDCheck: true, SkipExpiryCheck: true} // checked here, with better errors
	proved, err := oidc.NewVerifier(v.config.Issuer, ring, options).Verify(ctx, token)
	if ring.err != nil {
		return nil, ring.err // the verifier drops its type
	}
	if err != nil {
		return nil, refused(v.another(), "the signature of the token is not valid")
	}
	var c claims
	if err := proved.Claims(&c); err != nil {
		return nil, refused(v.another(), "the claims of the token are malformed")
	}
	return c, v.check(c) // again, for the signed claims
}

// isSignIn reports whether the claims are of an ID token, by which a person signs in here, and not of an access token.
func (v *Verifier) isSignIn(c claims) bool {
	return v.config.People.Client != "" && !slices.Contains(c.list("aud"), v.config.Resource)
}

// voucher says who is named by the claims of a token that was verified: a person, if a group of theirs has a role, or else an agent.
func (v *Verifier) voucher(c claims) (identity.ExternalToken, error) {
	t, err := v.common(c)
	if err != nil {
		return t, err
	}
	rule, isPerson := v.config.People.roleOf(c)
	switch {
	case isPerson:
		t.Role, t.Workspace = rule.Role, rule.Workspace
		t.Name, err = v.config.People.nameOf(c)
		return t, err
	case t.SignIn:
		return t, refusal.New(refusal.NotPermitted, "have an administrator of the issuer add you to a group that has a role here, and sign in again",
			"the sign-in of %.200q is good, but none of their groups has a role here", c.text("sub"))
	}
	t.Role, t.Workspace, t.Name = identity.Agent, identity.DefaultWorkspace, c.text(v.config.Claim)
	if event.CheckName("the agent's name", t.Name) != nil {
		return t, refused("configure the issuer to put the registered name of the agent into the claim "+v.config.Claim,
			"the claim %s of the token is not the name of an agent: %.80q", v.config.Claim, t.Name)
	}
	if v.config.Person != "" && c[v.config.Person] != nil {
		if t.Person = c.text(v.config.Person); event.CheckName("the person's name", t.Person) != nil || t.Person == t.Name {
			return t, refused("configure the issuer to put the name of the person at the client into the claim "+v.config.Person+", or to omit it",
				"the claim %s of the token is not the name of a person: %.80q", v.config.Person, t.Person)
		}
	}
	return t, nil
}

// common returns what the tokens of people and of agents have in common.
func (v *Verifier) common(c claims) (identity.ExternalToken, error) {
	expires, _, err := c.time("exp")
	if err != nil {
		return identity.ExternalToken{}, err
	}
	issued, said, err := c.time("iat")
	if said {
		issued = issued.Add(-leeway) // a clock that is ahead does not make a token newer
	}
	return identity.ExternalToken{
		Issuer: v.config.Issuer, Subject: c.text("sub"), Client: c.text("client_id"), ID: c.text("jti"), SignIn: v.isSignIn(c),
		Scopes: identity.ParseScopes(c.scopes()), NotIssuedBefore: issued, Expires: expires,
	}, err
}

// another is the hint for a token that is not accepted.
func (v *Verifier) another() string {
	return fmt.Sprintf("get a new token from %s for the resource %s", v.config.Issuer, v.config.Resource)
}

// check refuses claims of another issuer, for another resource or another time.
func (v *Verifier) check(c claims) error {
	switch {
	case c.text("iss") != v.config.Issuer:
		return refused(v.another(), "the token is from another issuer: %.200q", c.text("iss"))
	case !slices.Contains(c.list("aud"), v.config.Resource) && !v.isForClient(c):
		return refused(v.another(), "the token is for another audience: %.200q", c.list("aud"))
	case c["cnf"] != nil: // accepting it without proof would let a thief use it
		return refused("get a bearer token", "the token is bound to a key (cnf), which this server does not support")
	case c.text("sub") == "":
		return refused(v.another(), "the token has no subject")
	}
	now := v.config.Now()
	expires, ok, err := c.time("exp")
	if err != nil || !ok {
		return refused(v.another(), "the token has no expiry time")
	}
	if !now.Before(expires.Add(leeway)) {
		return refused(v.another(), "the token expired at %s", expires.Format(time.RFC3339))
	}
	for _, name := range []string{"nbf", "iat"} {
		at, ok, err := c.time(name)
		if err != nil {
			return refused(v.another(), "the claim %s of the token is not a time", name)
		}
		if ok && now.Add(leeway).Before(at) {
			return refused("compare the clocks of the issuer and of this server", "the token is not valid before %s", at.Format(time.RFC3339))
		}
	}
	return nil
}

// isForClient reports whether a token is an ID token for this server's client (OpenID Connect Core 3.1.3.7): one that another client asked for is not.
func (v *Verifier) isForClient(c claims) bool {
	client := v.config.People.Client
	for _, name := range []string{"azp", "client_id"} {
		if by := c.text(name); by != "" && by != client {
			return false
		}
	}
	aud := c.list("aud")
	return client != "" && slices.Contains(aud, client) && (len(aud) == 1 || c.text("azp") == client)
}

func refused(hint, format string, args ...any) error {
	return refusal.New(refusal.Unauthenticated, hint, format, args...)
}
