package mcpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/surface/mcpapi/inside"
	"github.com/trapezehq/trapeze/internal/surface/mcpapi/tasks"
)

const (
	// MaxBody is the most bytes that one message to the server may have.
	MaxBody = 1 << 20
	// MaxBatch is the most messages that an array of them may have, in the protocol versions that have such batches.
	MaxBatch = 256
	// newEra is the first protocol version without sessions.
	newEra = "2026-07-28"
	// sessionIdle is after how long without a call a session of the older protocol is forgotten. Clients that come back are
	// told so and begin another.
	sessionIdle = 12 * time.Hour
	// maxSessions is how many sessions of the older protocol one token may have open.
	maxSessions = 64
	// maxStreams is how many streams of notifications one token may have open in the newer protocol.
	maxStreams = 64
	// maxServers is how many principals' servers are kept at hand; beyond it, the longest unused is made again when needed.
	maxServers = 16_384
	// stillEvery is how often the token of a request that takes long is looked at again.
	stillEvery = 15 * time.Second
	// answerLimit is how long one piece of an answer may take to be read.
	answerLimit = 2 * time.Minute
)

// HandlerOptions of the door at /mcp.
type HandlerOptions struct {
	Options
	Log *slog.Logger // nil means no log
	// Make makes a principal's server; nil means [New].
	Make func(*client.Client, Options) *mcp.Server
}

// Handler is the door over Streamable HTTP: both eras of the protocol at one URL. Whoever comes is asked of the API, by the token
// that every call must bring, and what the API refuses is refused as it does.
type Handler struct {
	api     http.Handler
	options HandlerOptions
	inner   http.RoundTripper
	servers *lru.Cache[string, principal]
	making  sync.Mutex
	old     http.Handler // with sessions
	new     http.Handler // without
}

// NewHandler returns the door to what api serves.
func NewHandler(api http.Handler, o HandlerOptions) *Handler {
	if o.Make == nil {
		o.Make = New
	}
	h := &Handler{api: api, options: o, inner: inside.Transport(api)}
	h.servers, _ = lru.New[string, principal](maxServers)                                                               // only a size below 1 is refused
	options := mcp.StreamableHTTPOptions{Logger: o.Log, MaxRequestBodyBytes: MaxBody, DisableLocalhostProtection: true} // the guard before it checks hosts
	session := options
	session.SessionTimeout = sessionIdle
	session.EventStore = mcp.NewMemoryEventStore(nil) // 10 MiB in all: a client that was cut off asks for what it missed
	options.Stateless, options.PropagateRequestCancellation = true, true
	bearer := auth.RequireBearerToken(verified, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})
	h.old = bearer(h.ownSessions(mcp.NewStreamableHTTPHandler(serverOf, &session)))
	h.new = bearer(boundStreams(tasks.Door(mcp.NewStreamableHTTPHandler(serverOf, &options), tasksOf)))
	return h
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	me, refused := h.who(r)
	if refused != nil {
		refused.relay(w)
		return
	}
	v := &visitor{me: me, token: bearerOf(r)}
	var err error
	if v.principal, err = h.serverFor(v); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1)) // while the connection's read deadline holds
	switch {
	case err != nil:
		http.Error(w, "the request's body could not be read", http.StatusBadRequest)
		return
	case len(body) > MaxBody:
		w.Header().Set("Connection", "close")
		http.Error(w, fmt.Sprintf("the message is too large: at most %d bytes are taken. Put large content into an artifact (PUT /v1/artifacts) and refer to it.", MaxBody), http.StatusRequestEntityTooLarge)
		return
	case tooMany(body):
		http.Error(w, fmt.Sprintf("a batch has at most %d messages: send the rest in another", MaxBatch), http.StatusBadRequest)
		return
	case !utf8.Valid(body): // what is not would be replaced unseen
		http.Error(w, "the message is not UTF-8", http.StatusBadRequest)
		return
	}
	ctx, done := h.whileValid(r, v)
	defer done()
	r = r.WithContext(context.WithValue(ctx, visitorKey{}, v))
	r.Body = io.NopCloser(bytes.NewReader(body))
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // it would count as broken while it waits; a server under test may have none
	w = &paced{ResponseWriter: w, control: control}
	if r.Header.Get("Mcp-Protocol-Version") >= newEra {
		h.new.ServeHTTP(w, r)
		return
	}
	h.old.ServeHTTP(w, r)
}

// tooMany reports whether a body is a batch of more messages than one may have.
func tooMany(body []byte) bool {
	var members []json.RawMessage
	first := bytes.TrimLeft(body, " \t\r\n")
	return len(first) > 0 && first[0] == '[' && json.Unmarshal(body, &members) == nil && len(members) > MaxBatch
}

// whileValid is a context that ends when the request's token does, with the sessions that it began: a stream may be open for days.
func (h *Handler) whileValid(r *http.Request, v *visitor) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancel(r.Context())
	var look *time.Timer
	look = time.AfterFunc(stillEvery, func() {
		if _, refused := h.who(r); refused != nil && refused.status == http.StatusUnauthorized {
			cancel()
			for s := range v.server.Sessions() {
				_ = s.Close() // it may be closing
			}
			return
		}
		if ctx.Err() == nil {
			look.Reset(stillEvery)
		}
	})
	return ctx, func() { cancel(); look.Stop() }
}

// visitor is who makes a request.
type visitor struct {
	principal
	me    client.Me
	token string
}

// principal is what there is of a principal for all its requests.
type principal struct {
	server  *mcp.Server
	tasks   tasks.Source
	streams *atomic.Int32 // of notifications, open now
}

type visitorKey struct{}

func visitorOf(ctx context.Context) *visitor {
	v, _ := ctx.Value(visitorKey{}).(*visitor)
	return v
}

// verified binds sessions to the token that began them.
func verified(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
	return &auth.TokenInfo{UserID: visitorOf(ctx).key()}, nil
}

func (v *visitor) key() string {
	return v.me.Workspace + "/" + string(v.me.Role) + "/" + v.me.Name + "/" + v.me.Token
}

func serverOf(r *http.Request) *mcp.Server { return visitorOf(r.Context()).server }

func tasksOf(r *http.Request) tasks.Source { return visitorOf(r.Context()).tasks }

// serverFor is the server of a principal, for as long as it is in use.
func (h *Handler) serverFor(v *visitor) (principal, error) {
	h.making.Lock()
	defer h.making.Unlock()
	if p, ok := h.servers.Get(v.key()); ok {
		return p, nil
	}
	c, err := client.New("http://localhost", v.token, client.Options{HTTP: &http.Client{Transport: h.inner}, Retries: -1, UserAgent: "trapeze-mcp"})
	if err != nil {
		return principal{}, err
	}
	o := h.options.Options
	o.Person, o.Secret = v.me.Person, v.token
	o = o.filled(c)
	p := principal{server: h.options.Make(c, o), tasks: o.Tasks, streams: new(atomic.Int32)}
	h.servers.Add(v.key(), p)
	return p, nil
}

// who asks the API whom a request's token speaks for.
func (h *Handler) who(r *http.Request) (client.Me, *refusedCall) {
	var me client.Me
	ask, err := http.NewRequestWithContext(r.Context(), http.MethodGet, "http://localhost/v1/me", nil)
	if err != nil {
		return me, &refusedCall{status: http.StatusInternalServerError}
	}
	ask.Header["Authorization"] = r.Header["Authorization"]
	res, err := h.inner.RoundTrip(ask)
	if err != nil {
		return me, &refusedCall{status: http.StatusServiceUnavailable}
	}
	defer func() { _ = res.Body.Close() }() // it is in memory
	body, err := io.ReadAll(io.LimitReader(res.Body, MaxBody))
	if err != nil || res.StatusCode != http.StatusOK || json.Unmarshal(body, &me) != nil {
		return me, &refusedCall{status: res.StatusCode, header: res.Header, body: body}
	}
	return me, nil
}

// refusedCall is what the API said instead.
type refusedCall struct {
	status int
	header http.Header
	body   []byte
}

func (c *refusedCall) relay(w http.ResponseWriter) {
	for _, name := range []string{"Content-Type", "Www-Authenticate", "Retry-After", "Cache-Control"} {
		if v := c.header[name]; v != nil {
			w.Header()[name] = v
		}
	}
	w.WriteHeader(c.status)
	_, _ = io.Copy(w, bytes.NewReader(c.body)) // the client is gone
}

func bearerOf(r *http.Request) string {
	const scheme = "Bearer "
	h := r.Header.Get("Authorization")
	return h[min(len(scheme), len(h)):]
}

// ownSessions answers for a session that is not the token's as for one that never was: nobody learns of another's, and a client
// whose token was renewed begins another, which is what the protocol has it do when it is told so. Nor may a token have more
// sessions than a bound.
func (h *Handler) ownSessions(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, open, own := r.Header.Get("Mcp-Session-Id"), 0, false
		for s := range serverOf(r).Sessions() {
			open++
			own = own || s.ID() == id
		}
		switch {
		case id != "" && !own:
			http.Error(w, "session not found", http.StatusNotFound)
			return
		case id == "" && r.Method == http.MethodPost && open >= maxSessions:
			w.Header().Set("Retry-After", "60")
			http.Error(w, "this token has too many sessions open: end one with DELETE, or use protocol version "+newEra+", which needs none", http.StatusTooManyRequests)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// boundStreams refuses a stream of notifications more than a token may have: each is held for as long as its client likes. A header
// that hides what a message is was never let through.
func boundStreams(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Method") == "subscriptions/listen" {
			open := visitorOf(r.Context()).streams
			defer open.Add(-1)
			if open.Add(1) > maxStreams {
				w.Header().Set("Retry-After", "60")
				http.Error(w, fmt.Sprintf("this token has %d streams of notifications open, which is the most: end one, or let one be about more", maxStreams), http.StatusTooManyRequests)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// paced gives each piece of an answer its own time to be read, since an answer as a whole may take as long as it takes.
type paced struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (p *paced) Write(b []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(answerLimit))
	return p.ResponseWriter.Write(b)
}

// Unwrap is for [http.ResponseController].
func (p *paced) Unwrap() http.ResponseWriter { return p.ResponseWriter }
