package oauth

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/url"
	"slices"

	"golang.org/x/oauth2"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// BackPath is the path of this server to which the issuer sends people back.
const BackPath = "/sign-in/back"

// SignIn signs people in at the page by the authorization-code flow with PKCE (OpenID Connect Core 3.1, RFC 7636). It is safe for concurrent use.
type SignIn struct {
	verifier *Verifier
	back     string
}

// SignIn returns how people sign in; nil: no client is configured, and they cannot.
func (v *Verifier) SignIn() *SignIn {
	if v.config.People.Client == "" {
		return nil
	}
	back := url.URL{Scheme: v.resource.Scheme, Host: v.resource.Host, Path: BackPath}
	return &SignIn{verifier: v, back: back.String()}
}

// Name is the host of the issuer, for people.
func (s *SignIn) Name() string {
	u, err := url.Parse(s.verifier.config.Issuer)
	if err != nil {
		return s.verifier.config.Issuer
	}
	return u.Host
}

// Begin returns the URL of the issuer at which a person signs in. State, nonce and verifier are secrets of this attempt, which the person's browser
// keeps. Errors: unavailable.
func (s *SignIn) Begin(ctx context.Context, state, nonce, verifier string) (string, error) {
	c, err := s.flow(ctx)
	if err != nil {
		return "", err
	}
	return c.AuthCodeURL(state, oauth2.SetAuthURLParam("nonce", nonce), oauth2.S256ChallengeOption(verifier)), nil
}

// Finish returns the ID token that the issuer gives for the code with which it sent a person back. By names the issuer that did (RFC 9207), if the answer
// says so. Errors: unauthenticated for a code that does not count, a token of another attempt, or the answer of another issuer; not_permitted for a person
// without a role here; unavailable.
func (s *SignIn) Finish(ctx context.Context, code, by, nonce, verifier string) (string, error) {
	c, err := s.flow(ctx)
	if err != nil {
		return "", err
	}
	known, err := s.verifier.issuer.current(ctx)
	if err != nil {
		return "", err
	}
	if by != "" && by != known.found.Issuer || by == "" && known.found.SaysIssuer {
		return "", refused("sign in again", "the answer is not of the issuer %s", s.verifier.config.Issuer)
	}
	asking, cancel := context.WithTimeout(context.WithValue(ctx, oauth2.HTTPClient, s.verifier.issuer.client), askLimit)
	defer cancel()
	got, err := c.Exchange(asking, code, oauth2.VerifierOption(verifier))
	if err != nil {
		return "", s.unredeemed(ctx, err)
	}
	token, _ := got.Extra("id_token").(string)
	if token == "" {
		return "", refused("have the issuer give ID tokens to the client of this server", "the issuer gave no ID token")
	}
	said, err := s.verifier.verified(ctx, token)
	if err != nil {
		return "", err
	}
	if !s.verifier.isSignIn(said) || subtle.ConstantTimeCompare([]byte(said.text("nonce")), []byte(nonce)) != 1 {
		return "", refused("sign in again", "the issuer's answer is of another sign-in")
	}
	_, err = s.verifier.voucher(said)
	return token, err
}

// unredeemed is the refusal of a code that the issuer did not take. What the issuer says is in the log, without the code.
func (s *SignIn) unredeemed(ctx context.Context, err error) error {
	var answered *oauth2.RetrieveError
	if !errors.As(err, &answered) {
		s.verifier.config.Log.WarnContext(ctx, "a sign-in cannot be finished: the issuer does not answer", "issuer", s.verifier.config.Issuer)
		return away("the issuer %s does not answer", s.verifier.config.Issuer)
	}
	s.verifier.config.Log.WarnContext(ctx, "the issuer refuses a sign-in", "issuer", s.verifier.config.Issuer, "error", refusal.Clip(answered.ErrorCode, 100))
	return refused("sign in again; if that fails, the log of the server says why", "the issuer did not accept the sign-in")
}

// flow returns the client of this server, with the endpoints in the issuer's metadata.
func (s *SignIn) flow(ctx context.Context) (*oauth2.Config, error) {
	known, err := s.verifier.issuer.current(ctx)
	if err != nil {
		return nil, err
	}
	at, p := known.found, s.verifier.config.People
	if err := errors.Join(checkEndpoint("its sign-in", at.Authorize), checkEndpoint("its tokens", at.Token)); err != nil {
		return nil, away("nobody can sign in at %s: %s", s.verifier.config.Issuer, err)
	}
	style := oauth2.AuthStyleInParams
	if p.Secret != "" && (at.TokenMethods == nil || slices.Contains(at.TokenMethods, "client_secret_basic")) {
		style = oauth2.AuthStyleInHeader // the default of RFC 8414
	}
	return &oauth2.Config{
		ClientID: p.Client, ClientSecret: p.Secret, RedirectURL: s.back, Scopes: p.Scopes,
		Endpoint: oauth2.Endpoint{AuthURL: at.Authorize, TokenURL: at.Token, AuthStyle: style},
	}, nil
}
