package transport

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
)

// Token returns the token of the call of ctx; empty if ctx belongs to no call.
func Token(ctx context.Context) string {
	if v := callerFrom(ctx); v != nil {
		return v.token
	}
	return ""
}

// tokenTransport sends the requests of a principal to the API: with the token of the current call, or outside of calls with the newest
// token seen.
type tokenTransport struct {
	api    http.RoundTripper
	newest atomic.Pointer[string] // nil if it was refused, and no other was seen since
}

// errNoValidToken says that the principal has no valid token. Background requests retry it, as if the API did not answer, until another
// token is seen.
var errNoValidToken = errors.New("the newest token of the principal is no longer valid")

// use makes a token the newest.
func (s *tokenTransport) use(token string) { s.newest.Store(&token) }

// stillValid reports that a token seen before is still valid.
func (s *tokenTransport) stillValid(token string) { s.newest.CompareAndSwap(nil, &token) }

// RoundTrip implements [http.RoundTripper].
func (s *tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if v := callerFrom(r.Context()); v != nil {
		v.decoded() // a tool calls the API with its arguments
	}
	if token := Token(r.Context()); token != "" {
		return s.api.RoundTrip(bearing(token, r))
	}
	token := s.newest.Load()
	if token == nil {
		if r.Body != nil {
			_ = r.Body.Close() // required of a RoundTripper
		}
		return nil, errNoValidToken
	}
	res, err := s.api.RoundTrip(bearing(*token, r))
	if err != nil || res.StatusCode != http.StatusUnauthorized {
		return res, err
	}
	_ = res.Body.Close() // in memory
	s.newest.CompareAndSwap(token, nil)
	return nil, errNoValidToken
}

// bearing returns a request with another token.
func bearing(token string, r *http.Request) *http.Request {
	r = r.WithContext(r.Context())
	r.Header = r.Header.Clone()
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}
