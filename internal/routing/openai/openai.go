package openai

import (
	"context"
	"crypto/tls"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/routing"
)

// Options are the model and its budget. Zero fields mean the default.
type Options struct {
	Endpoint string // base URL, such as https://api.example.com/v1; https, or http on this machine
	Model    string
	Key      string // sent as a bearer token; empty: none

	Timeout       time.Duration // of one call of Advise with all tries; default 10 s, at most a minute
	MaxTokens     int           // of the answer; default 400, at most 4096
	Retries       int           // after the first try; default 0, at most 3
	PerHour       int           // tries; default 120
	TokensPerHour int64         // as the endpoint reports them, or else estimated; default 500,000
	Share         int           // the share of those for one principal, in percent; default 25

	// Backoff is the wait before the first retry, and doubles; default 250 ms.
	Backoff time.Duration
	// Failures in a row open the circuit, default 5; after OpenFor, default a minute, one call is a probe.
	Failures int
	OpenFor  time.Duration

	Now func() time.Time // nil means time.Now
	TLS *tls.Config      // nil means the system's roots
}

// Bounds of the options.
const (
	maxTimeout    = time.Minute
	maxMaxTokens  = 4096
	maxRetries    = 3
	maxConcurrent = 4 // calls; others wait, within their timeout
)

func (o Options) withDefaults() Options {
	set := func(v *time.Duration, def time.Duration) {
		if *v == 0 {
			*v = def
		}
	}
	set(&o.Timeout, 10*time.Second)
	set(&o.Backoff, 250*time.Millisecond)
	set(&o.OpenFor, time.Minute)
	if o.MaxTokens == 0 {
		o.MaxTokens = 400
	}
	if o.PerHour == 0 {
		o.PerHour = 120
	}
	if o.TokensPerHour == 0 {
		o.TokensPerHour = 500_000
	}
	if o.Share == 0 {
		o.Share = 25
	}
	if o.Failures == 0 {
		o.Failures = 5
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// check refuses (invalid) options out of their bounds. No message contains the key.
func (o Options) check() (*url.URL, error) {
	u, err := o.address()
	if err != nil {
		return nil, err
	}
	for _, c := range []struct {
		bad  bool
		what string
	}{
		{o.Timeout < 0 || o.Timeout > maxTimeout, "the timeout is not from 0s to 1m"},
		{o.MaxTokens < 0 || o.MaxTokens > maxMaxTokens, "the answer's tokens are not from 1 to 4096"},
		{o.Retries < 0 || o.Retries > maxRetries, "the retries are not from 0 to 3"},
		{o.Share < 0 || o.Share > 100, "the share of one principal is not from 1 to 100 percent"},
		{o.PerHour < 0 || o.TokensPerHour < 0 || o.Backoff < 0 || o.Failures < 0 || o.OpenFor < 0, "a bound is negative"},
	} {
		if c.bad {
			return nil, refusal.New(refusal.Invalid, "fix the adviser's configuration", "%s", c.what)
		}
	}
	return u.JoinPath("chat", "completions"), nil
}

// address is the base address of the service, or refuses (invalid) it, the model or the key.
func (o Options) address() (*url.URL, error) {
	u, err := url.Parse(o.Endpoint)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, refusal.New(refusal.Invalid, "write it like https://api.example.com/v1", "the endpoint is not a URL without user, query and fragment")
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !local(u.Hostname())) {
		return nil, refusal.New(refusal.Invalid, "use https; http is only for this machine", "the endpoint %s would be called without encryption", u.Host)
	}
	const hint = "fix the configuration of the model"
	if o.Model == "" || len(o.Model) > 200 {
		return nil, refusal.New(refusal.Invalid, hint, "the model's name has to be 1 to 200 bytes long")
	}
	if strings.ContainsFunc(o.Key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, refusal.New(refusal.Invalid, hint, "the key contains white space, a control character or a character outside ASCII")
	}
	return u, nil
}

func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Adviser asks one model. It is safe for concurrent use.
type Adviser struct {
	*endpoint
	opts   Options
	budget budget
	turn   chan struct{}
}

var _ routing.Adviser = (*Adviser)(nil)

// New returns an adviser. It makes no call. Refusals: invalid.
func New(o Options) (*Adviser, error) {
	u, err := o.check()
	if err != nil {
		return nil, err
	}
	o = o.withDefaults()
	return &Adviser{endpoint: newEndpoint(u, o.Key, o.Timeout, o.Now, o.TLS), opts: o, turn: make(chan struct{}, maxConcurrent), budget: budget{opts: o}}, nil
}

// Advise asks the model what to do with a task. The advice is one of the choices; or there is none, and the error (a
// refusal: unavailable or budget) says why. Advice.Told has the exchange in either case.
func (a *Adviser) Advise(ctx context.Context, by string, s *policy.Situation, choices []routing.Choice) (routing.Advice, error) {
	told := routing.Told{Model: a.opts.Model}
	q, err := ask(a.opts, s, choices)
	if err != nil {
		return routing.Advice{Told: told}, err
	}
	told.Prompt = q.prompt
	ctx, cancel := context.WithTimeout(ctx, a.opts.Timeout)
	defer cancel()
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return routing.Advice{Told: told}, unavailable("too many calls ask the model at the same time")
	}
	began := a.opts.Now()
	content, err := a.try(ctx, by, q, &told)
	told.Took = a.opts.Now().Sub(began)
	if err != nil {
		return routing.Advice{Told: told}, err
	}
	advice, err := q.read(content)
	a.budget.judged(err == nil)
	advice.Told = told
	return advice, err
}

func unavailable(format string, args ...any) *refusal.Error {
	return refusal.New(refusal.Unavailable, "try again later, or name a receiver", format, args...)
}
