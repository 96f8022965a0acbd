package transport

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/liveness"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/taskext"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/toolset"
)

// caller is the sender of a request.
type caller struct {
	*principal
	key   string // of the principal
	token string
	tools toolset.Set // that the address of the request chooses
	leave func()      // ends the turn of the message; nil: it has none
	since time.Time   // when the message began to wait; zero: it did not
}

// principal is the state of a principal that all its requests share.
type principal struct {
	person   string // the user of the client; empty: there is none
	serving  serving
	sessions sessions
	ids      ids // of new sessions
	tokens   tokenTransport
	streams  atomic.Int32 // open notification streams

	following taskext.Following // tasks that those streams follow

	requests int // requests in progress; guarded by principals.mu
}

// keyOf identifies the principal, person and scopes of a token: tokens with the same key have the same permissions. A token with fewer
// scopes has another key, so that it cannot act in a session that a token with more scopes started.
func keyOf(me client.Me) string {
	scopes := slices.Compact(slices.Sorted(slices.Values(me.Scopes)))
	return fmt.Sprintf("%q", append([]string{me.Workspace, string(me.Role), me.Name, me.Person}, scopes...))
}

type callerKey struct{}

// within returns a context of a message of a caller.
func within(ctx context.Context, v *caller) context.Context {
	if !v.since.IsZero() {
		ctx = liveness.Since(ctx, v.since)
	}
	return toolset.With(context.WithValue(ctx, callerKey{}, v), v.tools)
}

func callerFrom(ctx context.Context) *caller {
	v, _ := ctx.Value(callerKey{}).(*caller)
	return v
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
			if v, ok := extra.TokenInfo.Extra["caller"].(*caller); ok {
				ctx = within(ctx, v)
			}
		}
		return next(ctx, method, req)
	}
}
