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

// caller is the sender of a request.
type caller struct {
	*principal
	key   string // of the principal
	token string
}

// principal is the state of a principal that all its requests share.
type principal struct {
	server   *mcp.Server
	tasks    tasks.Source
	sessions *sessions
	tokens   *tokenTransport
	streams  atomic.Int32 // open notification streams

	following tasks.Following // tasks that those streams follow

	requests int // requests in progress; guarded by principals.mu
}

// keyOf identifies the principal, person and scopes of a token: tokens with the same key have the same permissions. A token with fewer
// scopes has another key, so that it cannot act in a session that a token with more scopes started.
func keyOf(me client.Me) string {
	scopes := slices.Compact(slices.Sorted(slices.Values(me.Scopes)))
	return fmt.Sprintf("%q", append([]string{me.Workspace, string(me.Role), me.Name, me.Person}, scopes...))
}

type callerKey struct{}

func callerFrom(ctx context.Context) *caller {
	v, _ := ctx.Value(callerKey{}).(*caller)
	return v
}

// Token returns the token of the call of ctx; empty if ctx belongs to no call.
func Token(ctx context.Context) string {
	if v := callerFrom(ctx); v != nil {
		return v.token
	}
	return ""
}

// tokenInfo tells the SDK who sends a request: sessions are bound to its user id, and each message of a session has its caller.
func tokenInfo(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
	v := callerFrom(ctx)
	return &auth.TokenInfo{UserID: v.key, Extra: map[string]any{"caller": v}}, nil
}

// withMessageCaller sets the caller of the context to the sender of each message of a session. Without it, the context would be that of
// the request that started the session.
func withMessageCaller(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if extra := req.GetExtra(); extra != nil && extra.TokenInfo != nil {
			ctx = context.WithValue(ctx, callerKey{}, extra.TokenInfo.Extra["caller"])
		}
		return next(ctx, method, req)
	}
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
