package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/caller"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/api/httpapi/schema"
	"github.com/trapezehq/trapeze/internal/api/tracing"
)

// DefaultMaxBody is the default of [Options.MaxBody], in bytes.
const DefaultMaxBody = 1 << 20

// Options of the HTTP API. The zero value is valid.
type Options struct {
	// Version is the version of the server, for /v1/me and /healthz.
	Version string
	// Log gets internal errors; nil means slog.Default().
	Log *slog.Logger
	// MaxBody is the maximum size of a request body in bytes; 0 means [DefaultMaxBody].
	MaxBody int64
	// Hosts are the accepted host names, in addition to loopback names and IP addresses.
	Hosts []string
	// Mounts are other handlers by path. Each gets the handler of the API, and is behind the same guard, which checks hosts and origins,
	// but no tokens outside of /v1.
	Mounts map[string]func(api http.Handler) http.Handler
	// Pages answers browsers that ask for what does not exist, and gets the handler of the API; nil: they get what programs get.
	Pages func(api http.Handler) http.Handler
	// Resource tells clients without a token where to get one.
	Resource Resource
	// Advance moves the clock of a server for tests, and returns the new time; nil: the server has no such clock, and no route for it.
	Advance func(ctx context.Context, by time.Duration) (time.Time, error)
	// Called is called after each call with its method, the pattern of its route ("" if none matches), the status code of its answer and
	// the time that it took. May be nil.
	Called func(method, route string, code int, took time.Duration)
	// Tracer makes the spans of calls with a valid credential; nil: there are none.
	Tracer tracing.Tracer
	// Metrics returns the handler of scrapes for those who may read the figures of a workspace. Without it, there is no /metrics.
	Metrics func(workspace string) (http.Handler, error)
	// Stopping returns a context that ends when the server stops or is drained: calls do not wait then, and it is not ready. nil: it never does.
	Stopping func() context.Context
	// Drained reports whether the server is drained: it has no event streams then. nil: it never is.
	Drained func() bool
	// Heartbeat is the interval of comments on an event stream; 0 means 15 s.
	Heartbeat time.Duration
}

// Resource is the metadata of the server as a protected resource of an OAuth issuer (RFC 9728). The zero value means none.
type Resource struct {
	URL      string   // URL of the document
	Paths    []string // paths at which the server serves it
	Document []byte   // JSON
}

// service is the API: the use cases and their routes.
type service struct {
	app    *usecase.Surface
	router *endpoint.Router
	opts   Options
	pages  http.Handler                               // see Options.Pages; nil: none
	again  func(*http.Request) (caller.Caller, error) // authenticate: a value for all calls

	mu        sync.Mutex
	streaming int            // open event streams
	streams   map[string]int // by principal
}

// New returns the handler of all routes. Any [http.Server] can serve it: long polls and streams remove
// their read deadlines.
func New(a *usecase.Surface, o Options) http.Handler {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Heartbeat <= 0 {
		o.Heartbeat = 15 * time.Second
	}
	if o.Stopping == nil {
		o.Stopping = context.Background
	}
	if o.Drained == nil {
		o.Drained = func() bool { return false }
	}
	registry, isComplete := schema.Registry(o.Advance != nil)
	s := &service{app: a, router: endpoint.New(a.Positions, schema.Config(registry), o.Log, o.MaxBody, o.Resource.URL, a.Work), opts: o, streams: map[string]int{}}
	s.again = s.authenticate
	s.router.Receipts(a.History.GetReceiptOfCall)
	s.tasks()
	s.constraints()
	s.handoffs()
	s.trail()
	s.inbox()
	s.dead()
	s.agents()
	s.tokens()
	s.workspaces()
	s.cluster()
	s.audit()
	s.proofs()
	s.events()
	s.tickets()
	s.policies()
	s.policyRoute()
	s.phrases()
	s.envelopes()
	s.channels()
	s.memories()
	s.conversations()
	s.artifacts()
	s.clock()
	s.figures()
	s.alerts()
	s.erasures()
	if !isComplete {
		schema.Complete(s.router.API(), o.Advance != nil)
	}
	s.open()
	api := s.guard(s.router.Mux())
	for path, mount := range o.Mounts {
		s.router.Mux().Handle(path, mount(api))
	}
	if o.Pages != nil {
		s.pages = o.Pages(api)
	}
	return api
}

// checked refuses an id that is not of the kind of a route, where the use case accepts ids of several kinds.
func checked[B, O any](check func(string) error, fn func(context.Context, caller.Caller, string, *B) (O, error)) func(context.Context, caller.Caller, string, *B) (O, error) {
	return func(ctx context.Context, c caller.Caller, id string, in *B) (O, error) {
		if err := check(id); err != nil {
			var none O
			return none, err
		}
		return fn(ctx, c, id, in)
	}
}

// wellFormed makes a check of a function that parses an id.
func wellFormed(parse func(string) (string, int, error)) func(string) error {
	return func(id string) error {
		_, _, err := parse(id)
		return err
	}
}
