package oauth

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// leeway is how far the issuer's clock may be off.
const leeway = 30 * time.Second

// algorithms are those by which a key that is published proves who signed. None of them has a secret to share.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA,
}

// types are what a token's header may call it. RFC 9068 wants the first two; issuers that are older, or not told otherwise,
// write the third or nothing. A token for another purpose does not have this server as its audience.
var types = []string{"at+jwt", "application/at+jwt", "jwt", ""}

// Verifier checks the tokens of one issuer for one resource. Its methods are safe for many goroutines.
type Verifier struct {
	config   Config
	resource *url.URL
	issuer   *issuer
}

// New returns a verifier. It asks the issuer nothing before a token has come.
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

// Vouch checks a token and says whom it speaks for. Refusals: unauthenticated for a token that does not count, unavailable
// while the issuer cannot be asked for its keys. What can be refused without the keys is: a token that was never meant for
// this server makes it ask nobody.
func (v *Verifier) Vouch(ctx context.Context, token string) (identity.Voucher, error) {
	head, said, err := peek(token)
	if err != nil {
		return identity.Voucher{}, err
	}
	if err := checkHead(head); err != nil {
		return identity.Voucher{}, err
	}
	if err := v.check(said); err != nil {
		return identity.Voucher{}, err
	}
	ring := &keyring{issuer: v.issuer, head: head}
	options := &oidc.Config{SupportedSigningAlgs: algorithms, SkipClientIDCheck: true, SkipExpiryCheck: true} // both are checked here, with better words
	proved, err := oidc.NewVerifier(v.config.Issuer, ring, options).Verify(ctx, token)
	if ring.err != nil {
		return identity.Voucher{}, ring.err // the verifier has flattened it
	}
	if err != nil {
		return identity.Voucher{}, refused(v.another(), "the token's signature is not the issuer's")
	}
	var c claims
	if err := proved.Claims(&c); err != nil {
		return identity.Voucher{}, refused(v.another(), "the token's claims are malformed")
	}
	if err := v.check(c); err != nil { // again, of what was signed
		return identity.Voucher{}, err
	}
	return v.voucher(c)
}

func (v *Verifier) voucher(c claims) (identity.Voucher, error) {
	name := c.text(v.config.Claim)
	if event.CheckName("the agent's name", name) != nil {
		return identity.Voucher{}, refused("have the issuer put the agent's name, as it is registered here, into the claim "+v.config.Claim,
			"the token's claim %s names no agent: %.80q", v.config.Claim, name)
	}
	expires, _, err := c.time("exp")
	return identity.Voucher{
		Issuer: v.config.Issuer, Subject: c.text("sub"), Client: c.text("client_id"), ID: c.text("jti"), Name: name,
		Scopes: identity.ParseScopes(c.scopes()), Expires: expires,
	}, err
}

// another is what to do about a token that does not count.
func (v *Verifier) another() string {
	return fmt.Sprintf("get a new token from %s for the resource %s", v.config.Issuer, v.config.Resource)
}

// check refuses claims of another issuer, for another resource or another time.
func (v *Verifier) check(c claims) error {
	switch {
	case c.text("iss") != v.config.Issuer:
		return refused(v.another(), "the token is of another issuer: %.200q", c.text("iss"))
	case !slices.Contains(c.list("aud"), v.config.Resource):
		return refused(v.another(), "the token is for another audience: %.200q", c.list("aud"))
	case c["cnf"] != nil: // whoever stole one could present it here as if it were not bound
		return refused("get a bearer token", "the token is bound to a key that its bearer would have to prove")
	case c.text("sub") == "":
		return refused(v.another(), "the token has no subject")
	}
	now := v.config.Now()
	expires, ok, err := c.time("exp")
	if err != nil || !ok {
		return refused(v.another(), "the token does not say when it expires")
	}
	if !now.Before(expires.Add(leeway)) {
		return refused(v.another(), "the token expired at %s", expires.Format(time.RFC3339))
	}
	for _, name := range []string{"nbf", "iat"} {
		at, ok, err := c.time(name)
		if err != nil {
			return refused(v.another(), "the token's claim %s is no time", name)
		}
		if ok && now.Add(leeway).Before(at) {
			return refused("compare the clocks of the issuer and of this server", "the token counts only from %s on", at.Format(time.RFC3339))
		}
	}
	return nil
}

func refused(hint, format string, args ...any) error {
	return refusal.New(refusal.Unauthenticated, hint, format, args...)
}
