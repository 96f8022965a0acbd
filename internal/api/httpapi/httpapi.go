package httpapi

import (
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/api/httpapi/schema"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// DefaultMaxBody is the most bytes that a request's body may have unless the options say otherwise.
const DefaultMaxBody = 1 << 20

// Options of the door. The zero value is fine.
type Options struct {
	// Version is the server's, as /v1/me and /healthz tell it.
	Version string
	// Log gets what goes wrong inside; nil means slog.Default().
	Log *slog.Logger
	// MaxBody is the most bytes that a body may have; 0 means [DefaultMaxBody].
	MaxBody int64
	// Hosts are the names under which the server may be addressed, beside loopback names and IP addresses.
	Hosts []string
	// Mounts are other doors by their path. Each is made of the API's own handler and stands behind the same guard, which
	// checks hosts and origins but, outside of /v1, no token.
	Mounts map[string]func(api http.Handler) http.Handler
	// Resource is what clients that bring no token are told of where to get one.
	Resource Resource
	// Heartbeat is how often an event stream shows that it lives; 0 means 15 s.
	Heartbeat time.Duration
}

// Resource is the server as a resource of an OAuth issuer (RFC 9728). The zero value is none.
type Resource struct {
	URL      string   // where clients find the document
	Paths    []string // at which it is served
	Document []byte   // JSON
}

// service is the door: the use cases and how they are reached.
type service struct {
	app  *tasks.App
	door *endpoint.Door
	opts Options

	mu        sync.Mutex
	streaming int            // event streams that are open
	streams   map[string]int // of each principal
}

// New returns the handler of all routes. It may be served by any [http.Server]: long polls and streams lift the read
// deadline for themselves.
func New(a *tasks.App, o Options) http.Handler {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Heartbeat <= 0 {
		o.Heartbeat = 15 * time.Second
	}
	s := &service{app: a, door: endpoint.New(a, schema.Config(), o.Log, o.MaxBody, o.Resource.URL), opts: o, streams: map[string]int{}}
	schema.DescribeInputs(s.door.API().Components.Schemas)
	s.tasks()
	s.handoffs()
	s.inbox()
	s.dead()
	s.agents()
	s.tokens()
	s.audit()
	s.events()
	s.tickets()
	s.policies()
	s.phrases()
	s.envelopes()
	s.channels()
	s.memories()
	s.conversations()
	s.artifacts()
	s.open()
	api := s.guard(s.door.Mux())
	for path, mount := range o.Mounts {
		s.door.Mux().Handle(path, mount(api))
	}
	return api
}
