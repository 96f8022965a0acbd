package oauth

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Limits of the requests to the issuer.
const (
	askLimit  = 5 * time.Second  // for a lookup of the keys in total
	maxAnswer = 512 << 10        // bytes of one response
	pause     = 2 * time.Second  // after a failed lookup
	askEvery  = 10 * time.Second // a lookup because of tokens with unknown keys, however many there are
)

// How long keys are trusted. A key that the issuer has removed is trusted for freshFor, or for keepFor if the issuer cannot be reached.
const (
	freshFor = 10 * time.Minute
	keepFor  = time.Hour
)

// issuer caches the keys of an issuer. They are fetched on first use, and again when they are old or a key is unknown.
type issuer struct {
	url    string
	now    func() time.Time
	log    *slog.Logger
	client *http.Client
	keys   atomic.Pointer[keySet]

	turn    chan struct{} // held during a lookup; guards the fields below
	looked  time.Time     // the last lookup, whatever came of it
	failed  time.Time
	because error
}

func newIssuer(c Config) *issuer {
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, DisableKeepAlives: true, // minutes between requests
		MaxResponseHeaderBytes: 64 << 10,
	}
	client := &http.Client{
		Transport: transport, Timeout: askLimit,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // keys come only from the URL in the metadata
	}
	return &issuer{
		url: c.Issuer, now: c.Now, log: c.Log, client: client, turn: make(chan struct{}, 1),
	}
}

// current returns the keys of the issuer: fresh ones if possible, else those fetched within keepFor.
func (i *issuer) current(ctx context.Context) (*keySet, error) {
	have := i.keys.Load()
	now := i.now()
	switch {
	case have == nil || now.Sub(have.at) > keepFor:
		return i.renew(ctx, have)
	case now.Sub(have.at) > freshFor:
		select {
		case i.turn <- struct{}{}: // one call waits for the lookup, the others use the cached keys
			if fresh, err := i.asked(ctx, have); err == nil {
				return fresh, nil
			}
		default:
		}
	}
	return have, nil
}

// renew returns keys newer than those that the caller has seen.
func (i *issuer) renew(ctx context.Context, seen *keySet) (*keySet, error) {
	select {
	case i.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, away("the call ended before the issuer answered")
	}
	return i.asked(ctx, seen)
}

// refresh looks the keys up in the background, if nobody does, and nobody has within askEvery.
func (i *issuer) refresh(seen *keySet) {
	select {
	case i.turn <- struct{}{}:
	default:
		return
	}
	if since := i.now().Sub(i.looked); since >= 0 && since < askEvery { // a clock that was set back does not keep the keys from being looked up
		<-i.turn
		return
	}
	go func() {
		defer func() { <-i.turn }()
		_, _ = i.ask(context.Background(), seen) // what fails is in the log
	}()
}

// asked is [issuer.ask] for a caller that holds the turn, which it returns. The lookup continues when the caller leaves: otherwise callers
// that leave early would use up the allowed lookups, and nobody would get the keys.
func (i *issuer) asked(ctx context.Context, seen *keySet) (*keySet, error) {
	var fresh *keySet
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { <-i.turn }()
		fresh, err = i.ask(context.WithoutCancel(ctx), seen)
	}()
	select {
	case <-done:
		return fresh, err
	case <-ctx.Done():
		return nil, away("the call ended before the issuer answered")
	}
}

// ask looks up the keys, unless another call has just done so. The caller holds the turn.
func (i *issuer) ask(ctx context.Context, seen *keySet) (*keySet, error) {
	if have := i.keys.Load(); have != seen {
		return have, nil
	}
	now := i.now()
	if i.because != nil && now.Sub(i.failed) < pause {
		return nil, i.because
	}
	i.looked = now
	asking, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	list, found, err := i.lookUp(asking)
	if err != nil {
		i.log.WarnContext(ctx, "the keys of the token issuer cannot be fetched", "issuer", i.url, "because", refusal.Clip(err.Error(), 500))
		i.failed, i.because = i.now(), away("the keys of the issuer %s cannot be fetched", i.url)
		return nil, i.because
	}
	fresh := &keySet{keys: list, found: found, at: now}
	i.because = nil
	i.keys.Store(fresh)
	return fresh, nil
}

func away(format string, args ...any) error {
	return refusal.New(refusal.Unavailable, "repeat the call in a few seconds; tokens created by this server are accepted meanwhile", format, args...)
}

// metadata is what this server needs of the metadata of an issuer.
type metadata struct {
	Issuer       string   `json:"issuer"`
	Keys         string   `json:"jwks_uri"`
	Authorize    string   `json:"authorization_endpoint"`
	Token        string   `json:"token_endpoint"`
	TokenMethods []string `json:"token_endpoint_auth_methods_supported"`
	SaysIssuer   bool     `json:"authorization_response_iss_parameter_supported"` // RFC 9207
}

// lookUp fetches the metadata of the issuer, and the keys from the URL in them.
func (i *issuer) lookUp(ctx context.Context) ([]key, metadata, error) {
	found, err := i.discover(ctx)
	if err != nil {
		return nil, found, err
	}
	body, _, err := i.get(ctx, found.Keys)
	if err != nil {
		return nil, found, err
	}
	list, err := parseKeys(body)
	return list, found, err
}

// discover returns the metadata of OpenID Connect Discovery or RFC 8414.
func (i *issuer) discover(ctx context.Context) (doc metadata, err error) {
	u, err := url.Parse(i.url)
	if err != nil {
		return doc, err
	}
	body, found, err := i.get(ctx, strings.TrimSuffix(i.url, "/")+"/.well-known/openid-configuration")
	if err != nil && !found {
		body, _, err = i.get(ctx, wellKnown(u, "oauth-authorization-server"))
	}
	if err != nil {
		return doc, err
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return doc, fmt.Errorf("its metadata: %w", err)
	}
	if doc.Issuer != i.url {
		return doc, fmt.Errorf("its metadata name the issuer %.200q: the configured URL must be exactly the same", doc.Issuer)
	}
	return doc, checkEndpoint("the keys", doc.Keys)
}

// checkEndpoint refuses a URL in the metadata that is missing, or neither https nor a loopback address.
func checkEndpoint(what, s string) error {
	if at, err := url.Parse(s); err != nil || at.Host == "" || !private(at) {
		return fmt.Errorf("its metadata have %s at %.200q, which is neither https nor a loopback address", what, s)
	}
	return nil
}

// get fetches a document, and reports whether it exists.
func (i *issuer) get(ctx context.Context, at string) (body []byte, found bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, true, err
	}
	req.Header.Set("Accept", "application/json")
	res, err := i.client.Do(req)
	if err != nil {
		return nil, true, err
	}
	defer func() { _ = res.Body.Close() }() // already read
	if res.StatusCode != http.StatusOK {
		return nil, res.StatusCode/100 != 4, fmt.Errorf("%s is answered %s", at, res.Status)
	}
	body, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = fmt.Errorf("%s is answered with more than %d bytes", at, maxAnswer)
	}
	return body, true, err
}
