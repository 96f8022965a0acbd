package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tasks"
)

// visitor is who makes a request.
type caller struct {
	*principal
	key   string // of the principal
	token string
}

// principal is what there is of a principal for all its requests.
type principal struct {
	server   *mcp.Server
	tasks    tasks.Source
	sessions *sessions
	tokens   *tokenTransport
	streams  atomic.Int32 // of notifications, open now

	following tasks.Following // by those streams

	requests int // requests under way; the principals guards it
}

// keyOf names whom a token speaks for, and what it may be used for: tokens with one key can do the same. A token with fewer scopes
// has another, so that it cannot answer in a session what one with more has begun there.
func keyOf(me client.Me) string {
	scopes := slices.Compact(slices.Sorted(slices.Values(me.Scopes)))
	return fmt.Sprintf("%q", append([]string{me.Workspace, string(me.Role), me.Name, me.Person}, scopes...))
}

type callerKey struct{}

func callerFrom(ctx context.Context) *caller {
	v, _ := ctx.Value(callerKey{}).(*caller)
	return v
}

// Token is that of the call which ctx is of; empty: it is of none.
func Token(ctx context.Context) string {
	if v := callerFrom(ctx); v != nil {
		return v.token
	}
	return ""
}

// tokenInfo tells the SDK who makes a request: sessions are bound to the name, and each message of one brings its visitor.
func tokenInfo(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
	v := callerFrom(ctx)
	return &auth.TokenInfo{UserID: v.key, Extra: map[string]any{"caller": v}}, nil
}

// withMessageCaller makes what a message of a session does that of the visitor who sent it. Without it, the context would be that of the
// request which began the session.
func withMessageCaller(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if extra := req.GetExtra(); extra != nil && extra.TokenInfo != nil {
			ctx = context.WithValue(ctx, callerKey{}, extra.TokenInfo.Extra["caller"])
		}
		return next(ctx, method, req)
	}
}

// voice makes a principal's requests of the API: each with the token of the call that it is made for, or, where it is made for none,
// with the newest that was shown.
type tokenTransport struct {
	api    http.RoundTripper
	newest atomic.Pointer[string] // nil: it was refused, and none has been shown since
}

// errNoValidToken says that there is no token to speak with. To whoever goes on in the background it is as if the API were away, which
// they ride out until another token is shown.
var errNoValidToken = errors.New("the token that was shown last does not count any more")

// show makes a token the newest.
func (s *tokenTransport) use(token string) { s.newest.Store(&token) }

// holds is told that a token which was shown before still counts.
func (s *tokenTransport) stillValid(token string) { s.newest.CompareAndSwap(nil, &token) }

// RoundTrip implements [http.RoundTripper].
func (s *tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if token := Token(r.Context()); token != "" {
		return s.api.RoundTrip(bearing(token, r))
	}
	token := s.newest.Load()
	if token == nil {
		if r.Body != nil {
			_ = r.Body.Close() // nobody reads it
		}
		return nil, errNoValidToken
	}
	res, err := s.api.RoundTrip(bearing(*token, r))
	if err != nil || res.StatusCode != http.StatusUnauthorized {
		return res, err
	}
	_ = res.Body.Close() // it is in memory
	s.newest.CompareAndSwap(token, nil)
	return nil, errNoValidToken
}

// bearing is a request with another token.
func bearing(token string, r *http.Request) *http.Request {
	r = r.WithContext(r.Context())
	r.Header = r.Header.Clone()
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}
