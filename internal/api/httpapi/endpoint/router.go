package endpoint

import (
	"context"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/positions"
)

// Router has the routes of one server.
type Router struct {
	positions *positions.Positions
	mux       *http.ServeMux
	api       huma.API
	log       *slog.Logger
	maxBody   int64
	tokens    string // URL of the metadata that tell where to get a token; empty: none
	turns     Turns
	receipt   func(ctx context.Context, c caller.Caller) ([]byte, error)
	shortcuts map[string]*shortcut // by operation id
}

// Turns divides the processors among callers.
type Turns interface {
	// EnterCall waits for the turn of a call, whose context [Enter] was given. leave ends it, and may be called several times.
	EnterCall(ctx context.Context) (leave func(), err error)
	// EnterBody waits for the turn of a caller to have a large request decoded. leave ends it.
	EnterBody(ctx context.Context, c caller.Caller) (leave func(), err error)
}

// New returns a router without routes. Bodies may have maxBody bytes; internal errors go to the log. A refusal for a missing token names
// the URL tokens, where its metadata are; empty means none. Calls wait for the turns of their callers; nil: for none.
func New(p *positions.Positions, c huma.Config, log *slog.Logger, maxBody int64, tokens string, turns Turns) *Router {
	mux := http.NewServeMux()
	d := &Router{positions: p, mux: mux, log: log, maxBody: maxBody, tokens: tokens, turns: turns, shortcuts: map[string]*shortcut{}}
	d.api = huma.NewAPI(c, adapter{mux, d})
	return d
}

// adapter is the mux, as huma sees it.
type adapter struct {
	*http.ServeMux
	d *Router
}

// Handle implements [huma.Adapter]: a call waits for its turn, and goes to huma if it cannot take the shortcut of its route.
func (a adapter) Handle(op *huma.Operation, handler func(huma.Context)) {
	long := func(w http.ResponseWriter, r *http.Request) { handler(humago.NewContext(op, r, w)) }
	serve := long
	if p := a.d.shortcuts[op.OperationID]; p != nil {
		serve = func(w http.ResponseWriter, r *http.Request) { p.take(w, r, long) }
	}
	a.HandleFunc(op.Method+" "+op.Path, func(w http.ResponseWriter, r *http.Request) { a.d.inTurn(w, r, serve) })
}

// Receipts sets how the receipt of what a call changed is made, for callers that prefer one. Call it before routes are added.
func (d *Router) Receipts(of func(ctx context.Context, c caller.Caller) ([]byte, error)) {
	d.receipt = of
}

// API returns the description of the routes added so far.
func (d *Router) API() *huma.OpenAPI { return d.api.OpenAPI() }

// Mux returns the mux, for routes that are not described.
func (d *Router) Mux() *http.ServeMux { return d.mux }

// Log returns the log of internal errors.
func (d *Router) Log() *slog.Logger { return d.log }

// SchemaOf returns a reference to the schema of a type.
func SchemaOf[T any](d *Router) *huma.Schema {
	return d.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, "")
}

// request is a request and its caller. It is the context of its call, too, which saves one.
type request struct {
	context.Context //nolint:containedctx // it is one
	caller          caller.Caller
	r               *http.Request
	w               http.ResponseWriter
	again           func(*http.Request) (caller.Caller, error)
	leave           func() // ends its turn to be decoded; nil: it has none
	pause           func() // ends the turn of its call; nil: it has none
}

type requestKey struct{}

// Value implements [context.Context].
func (v *request) Value(key any) any {
	if key == (requestKey{}) {
		return v
	}
	return v.Context.Value(key)
}

// Enter returns the request with its caller, in a context for its call. again authenticates the request again, for calls that take long.
func Enter(ctx context.Context, w http.ResponseWriter, r *http.Request, c caller.Caller, again func(*http.Request) (caller.Caller, error)) *http.Request {
	v := &request{Context: ctx, caller: c, r: r, w: w, again: again}
	if strings.Contains(r.RequestURI, "agent/") || strings.Contains(r.RequestURI, "agent%2") {
		r = bareAgents(r)
	}
	return r.WithContext(v)
}

// bareAgents returns the request with agents by their bare names in its URL.
func bareAgents(r *http.Request) *http.Request {
	r = r.Clone(r.Context())
	q := r.URL.Query()
	identity.BareQuery(q)
	r.URL.RawQuery = q.Encode()
	const agents = "/v1/agents/"
	if name, is := strings.CutPrefix(r.URL.Path, agents); is {
		r.URL.Path, r.URL.RawPath = agents+event.Bare(name), ""
	}
	return r
}

// Made is a response writer that notes which task its call has made.
type Made interface{ Made(task string) }

func isMade(ctx context.Context, task string) {
	if v := requestOf(ctx); v != nil {
		if w, ok := v.w.(Made); ok {
			w.Made(task)
		}
	}
}

func requestOf(ctx context.Context) *request {
	v, _ := ctx.Value(requestKey{}).(*request)
	return v
}

// Caller returns the caller of a request. Every call under /v1 has one.
func Caller(ctx context.Context) caller.Caller {
	if v := requestOf(ctx); v != nil {
		return v.caller
	}
	return caller.Caller{}
}

// Still refuses a caller whose token has expired or was revoked since its call began.
func Still(ctx context.Context) error {
	v := requestOf(ctx)
	if v == nil {
		return nil
	}
	_, err := v.again(v.r)
	if code := refusal.CodeOf(err); code != refusal.Unauthenticated && code != refusal.NotPermitted {
		return nil // a check that fails for another reason ends nothing
	}
	return err
}

// Patient removes the read deadline of a call that may take long, and ends its turn. Otherwise the connection would end with the ReadTimeout
// of the server.
func Patient(ctx context.Context) {
	if v := requestOf(ctx); v != nil {
		if v.pause != nil {
			v.pause()
		}
		_ = http.NewResponseController(v.w).SetReadDeadline(time.Time{}) // not supported: no deadline
	}
}

// NotNil returns an empty list for nil, so that JSON has [] and not null.
func NotNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
