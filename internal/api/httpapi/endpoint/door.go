package endpoint

import (
	"context"
	"log/slog"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/positions"
)

// Door is what routes are hung on. Those of one server share one.
type Door struct {
	positions *positions.Positions
	mux       *http.ServeMux
	api       huma.API
	log       *slog.Logger
	maxBody   int64
	tokens    string // URL of what is said of where tokens are had
}

// New returns a door without routes. Bodies may have maxBody bytes; what goes wrong inside goes to the log. Whoever lacks a
// token is told that tokens says where to get one; empty: nowhere.
func New(p *positions.Positions, c huma.Config, log *slog.Logger, maxBody int64, tokens string) *Door {
	mux := http.NewServeMux()
	return &Door{positions: p, mux: mux, api: humago.New(mux, c), log: log, maxBody: maxBody, tokens: tokens}
}

// API is the description, as far as routes have been hung.
func (d *Door) API() *huma.OpenAPI { return d.api.OpenAPI() }

// Mux takes what is served without being described.
func (d *Door) Mux() *http.ServeMux { return d.mux }

// Log gets what goes wrong inside.
func (d *Door) Log() *slog.Logger { return d.log }

// SchemaOf describes a type by reference.
func SchemaOf[T any](d *Door) *huma.Schema {
	return d.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, "")
}

// visit is one request on its way through the door.
type visit struct {
	caller caller.Caller
	r      *http.Request
	w      http.ResponseWriter
	again  func(*http.Request) (caller.Caller, error)
}

type visitKey struct{}

// Enter returns the request with its caller, who makes every call that comes of it. Again finds out anew who that is.
func Enter(w http.ResponseWriter, r *http.Request, c caller.Caller, again func(*http.Request) (caller.Caller, error)) *http.Request {
	v := &visit{caller: c, r: r, w: w, again: again}
	return r.WithContext(context.WithValue(r.Context(), visitKey{}, v))
}

func visitOf(ctx context.Context) *visit {
	v, _ := ctx.Value(visitKey{}).(*visit)
	return v
}

// Caller is who makes the call. No call under /v1 gets this far without one.
func Caller(ctx context.Context) caller.Caller {
	if v := visitOf(ctx); v != nil {
		return v.caller
	}
	return caller.Caller{}
}

// Still refuses a caller whose token has expired or was revoked since a call that takes long began.
func Still(ctx context.Context) error {
	v := visitOf(ctx)
	if v == nil {
		return nil
	}
	_, err := v.again(v.r)
	if code := refusal.CodeOf(err); code != refusal.Unauthenticated && code != refusal.NotPermitted {
		return nil // that it cannot be found out now ends nothing
	}
	return err
}

// Patient lifts the read deadline for calls that are meant to take long. The connection would otherwise count as
// broken when the server's ReadTimeout is over.
func Patient(ctx context.Context) {
	if v := visitOf(ctx); v != nil {
		_ = http.NewResponseController(v.w).SetReadDeadline(time.Time{}) // then there is none to lift
	}
}

// NotNil makes an absent list an empty one, so that JSON has [] and not null.
func NotNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// SetPosition gives a number the type of the ledger's positions, which the doors do not know by name.
func SetPosition[P ~uint64](p *P, n uint64) { *p = P(n) }
