package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// ErrOver: the session of the issuer is over, and so is this one.
var ErrOver = errors.New("your session at the issuer is over")

// ErrNoSignIn: people cannot sign in at the server.
var ErrNoSignIn = errors.New("people do not sign in at this server")

const (
	askLimit  = 15 * time.Second
	maxAnswer = 512 << 10
)

// direct follows no redirect: tokens go to the address in the metadata alone.
func direct(c *http.Client) *http.Client {
	own := *c
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	own.Timeout = askLimit
	return &own
}

// toIssuer calls the issuer, which is another server than Trapeze's: with the CAs of the system.
var toIssuer = direct(http.DefaultClient)

// private reports whether requests to a URL are protected in transit: https, or a loopback address.
func private(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

// fetch reads a document.
func fetch(ctx context.Context, c *http.Client, at string, out any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	res, err := c.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusNotFound {
		return fmt.Errorf("%w (%s)", ErrNoSignIn, at)
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s is answered %s", at, res.Status)
	}
	return json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(out)
}

// resource is what a server says of its issuer (RFC 9728).
type resource struct {
	Issuers []string `json:"authorization_servers"`
	Client  string   `json:"trapeze_client_id"`
	Scope   string   `json:"trapeze_scope"`
}

// endpoints are those of an issuer.
type endpoints struct {
	Issuer string `json:"issuer"`
	Device string `json:"device_authorization_endpoint"`
	Token  string `json:"token_endpoint"`
	Revoke string `json:"revocation_endpoint"`
}

// find returns the endpoints of an issuer.
func find(ctx context.Context, issuer string) (e endpoints, err error) {
	if !private(issuer) {
		return e, fmt.Errorf("the issuer %q is neither https nor on this machine", issuer)
	}
	if err := fetch(ctx, toIssuer, strings.TrimSuffix(issuer, "/")+"/.well-known/openid-configuration", &e); err != nil {
		return e, fmt.Errorf("the issuer %s: %w", issuer, err)
	}
	switch {
	case e.Issuer != issuer:
		return e, fmt.Errorf("the issuer at %s calls itself %q", issuer, e.Issuer)
	case !private(e.Token):
		return e, fmt.Errorf("the issuer %s has its tokens at %q, which is neither https nor on this machine", issuer, e.Token)
	}
	return e, nil
}

func (e endpoints) config(client, scope string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: client, Scopes: strings.Fields(scope),
		Endpoint: oauth2.Endpoint{DeviceAuthURL: e.Device, TokenURL: e.Token, AuthStyle: oauth2.AuthStyleInParams},
	}
}

// Attempt is a sign-in that has begun.
type Attempt struct {
	URL, Code string // what the person opens, and types in there
	Whole     string // the URL with the code in it; empty: the issuer has none
	Until     time.Time

	of     Session
	flow   *oauth2.Config
	device *oauth2.DeviceAuthResponse
}

// Begin asks the issuer of a server for a code that the person types in at the issuer. toServer calls the server. Errors: ErrNoSignIn.
func Begin(ctx context.Context, toServer *http.Client, server string) (*Attempt, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	var r resource
	if err := fetch(ctx, direct(toServer), server+"/.well-known/oauth-protected-resource", &r); err != nil {
		return nil, err
	}
	if r.Client == "" || len(r.Issuers) != 1 {
		return nil, ErrNoSignIn
	}
	e, err := find(ctx, r.Issuers[0])
	if err != nil {
		return nil, err
	}
	if !private(e.Device) {
		return nil, fmt.Errorf("the issuer %s has no device flow for this command: sign in at the page of the server, or use a token", e.Issuer)
	}
	a := &Attempt{of: Session{Server: server, Issuer: e.Issuer, Client: r.Client}, flow: e.config(r.Client, r.Scope)}
	if a.device, err = a.flow.DeviceAuth(context.WithValue(ctx, oauth2.HTTPClient, toIssuer)); err != nil {
		return nil, refusedBy(e.Issuer, err)
	}
	a.URL, a.Code, a.Whole, a.Until = a.device.VerificationURI, a.device.UserCode, a.device.VerificationURIComplete, a.device.Expiry
	for _, shown := range []string{a.URL, a.Whole} { // a terminal may open what a person clicks on
		if shown != "" && !private(shown) || a.URL == "" {
			return nil, fmt.Errorf("the issuer %s has people open %q, which is neither https nor on this machine", e.Issuer, shown)
		}
	}
	return a, nil
}

// Wait waits until the person has typed the code in, and returns their session.
func (a *Attempt) Wait(ctx context.Context) (Session, error) {
	got, err := a.flow.DeviceAccessToken(context.WithValue(ctx, oauth2.HTTPClient, toIssuer), a.device)
	if err != nil {
		return Session{}, refusedBy(a.of.Issuer, err)
	}
	return a.of.with(got)
}

// with is the session with the tokens that the issuer gave.
func (in Session) with(got *oauth2.Token) (Session, error) {
	in.Token, _ = got.Extra("id_token").(string)
	if in.Token == "" {
		return in, fmt.Errorf("the issuer %s gave no ID token", in.Issuer)
	}
	if got.RefreshToken != "" {
		in.Refresh = got.RefreshToken
	}
	var err error
	in.Expires, err = expiry(in.Token)
	return in, err
}

// refusedBy is what an issuer says, without what it was told.
func refusedBy(issuer string, err error) error {
	var said *oauth2.RetrieveError
	if errors.As(err, &said) {
		return fmt.Errorf("the issuer %s did not sign you in: %s", issuer, said.ErrorCode)
	}
	return fmt.Errorf("the issuer %s: %w", issuer, err)
}
