package openai

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// endpoint is one address of a service, called with a key.
type endpoint struct {
	url     string
	key     string
	client  *http.Client
	timeout time.Duration // of a caller, for its messages
	now     func() time.Time
}

func newEndpoint(u *url.URL, key string, timeout time.Duration, now func() time.Time, roots *tls.Config) *endpoint {
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: roots, TLSHandshakeTimeout: timeout, MaxIdleConnsPerHost: maxConcurrent,
		MaxResponseHeaderBytes: 64 << 10, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true,
	}
	return &endpoint{
		url: u.String(), key: key, timeout: timeout, now: now,
		client: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// Close closes idle connections.
func (e *endpoint) Close() { e.client.CloseIdleConnections() }

// post makes one call with a JSON body and returns the body of the answer, of at most so many bytes. billed is false if the
// service said that it did nothing.
func (e *endpoint) post(ctx context.Context, body []byte, most int) (answer []byte, billed bool, f *failure) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return nil, true, failed(false, "the model cannot be asked")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "trapeze")
	if e.key != "" {
		req.Header.Set("Authorization", "Bearer "+e.key)
	}
	res, err := e.client.Do(req)
	if err != nil {
		return nil, true, failed(true, "the model cannot be reached: %s", e.reason(ctx, err))
	}
	defer res.Body.Close()
	if f := e.status(res); f != nil {
		return nil, false, f
	}
	answer, err = io.ReadAll(io.LimitReader(res.Body, int64(most)+1))
	switch {
	case err != nil:
		return answer, true, failed(true, "the model's answer broke off: %s", e.reason(ctx, err))
	case len(answer) > most:
		return answer, true, failed(false, "the model's answer is longer than %d bytes", most)
	}
	return answer, true, nil
}

// status returns the failure that the status and the type of an answer mean; nil if it is to be read. It repeats nothing of
// the body, which may contain the key.
func (e *endpoint) status(res *http.Response) *failure {
	switch code := res.StatusCode; {
	case code >= 300 && code < 400:
		return failed(false, "the model's endpoint answers with a redirect (%d), which is not followed", code)
	case code == http.StatusTooManyRequests || code >= 500:
		f := failed(true, "the model's endpoint answers %d", code)
		f.after = retryAfter(res.Header.Get("Retry-After"), e.now())
		return f
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return failed(false, "the model's endpoint does not accept the key (%d)", code)
	case code == http.StatusBadRequest || code == http.StatusRequestEntityTooLarge || code == http.StatusUnprocessableEntity:
		f := failed(false, "the model's endpoint answers %d", code)
		f.refused = true
		return f
	case code != http.StatusOK:
		return failed(false, "the model's endpoint answers %d", code)
	}
	if kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return failed(false, "the model's endpoint does not answer with JSON")
	}
	return nil
}

// retryAfter returns the wait that an endpoint asks for, in seconds or until a date; 0 if there is none or it is malformed.
func retryAfter(header string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(header, 10, 63); err == nil {
		return time.Duration(min(n, 1<<20)) * time.Second //nolint:gosec // bounded
	}
	if at, err := http.ParseTime(header); err == nil && at.After(now) {
		return min(at.Sub(now), 1<<20*time.Second)
	}
	return 0
}

// reason describes briefly why a call failed.
func (e *endpoint) reason(ctx context.Context, err error) string {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "it takes longer than " + e.timeout.String()
	case ctx.Err() != nil:
		return "the call was cancelled"
	}
	var broken *url.Error // contains the address, which callers must not see
	if errors.As(err, &broken) {
		err = broken.Err
	}
	var dialing *net.OpError
	if errors.As(err, &dialing) {
		err = dialing.Err
	}
	return e.keep(err.Error())
}

// keep makes a text fit for records and errors: bounded, and without the key, in case the endpoint repeats it.
func (e *endpoint) keep(text string) string {
	if e.key != "" {
		text = strings.ReplaceAll(text, e.key, "[key]")
	}
	return strings.ToValidUTF8(refusal.Clip(text, maxKept), "\uFFFD")
}
