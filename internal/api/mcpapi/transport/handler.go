package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/inprocess"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tasks"
)

const (
	// MaxBody is the most bytes that one message to the server may have.
	MaxBody = 1 << 20
	// MaxBatch is the most messages that an array of them may have, in the protocol versions that have such batches.
	MaxBatch = 256
	// StatelessVersion is the first protocol version without sessions.
	StatelessVersion = "2026-07-28"
	// sessionIdle is after how long without a call a session of the older protocol is forgotten. Clients that come back are
	// told so and begin another.
	sessionIdle = 12 * time.Hour
	// maxSessions is how many sessions of the older protocol one principal may have open.
	maxSessions = 64
	// maxStreams is how many streams of notifications one principal may have open in the newer protocol.
	maxStreams = 64
	// maxIdle is how many principals with nothing under way are kept at hand; beyond it, the longest unused is made again when needed.
	maxIdle = 16_384
	// recheckEvery is how often the token of a request that takes long is looked at again.
	recheckEvery = 15 * time.Second
	// answerLimit is how long one piece of an answer may take to be read.
	answerLimit = 2 * time.Minute
)

// Options of a door.
type Options struct {
	// Make makes a principal's server, and says where its handles of results that come later stand. The client speaks for the
	// principal: in each call with the token of the call, else with the newest that was shown. person is who sits at its
	// client, as the token says; empty: nobody.
	Make func(c *client.Client, person string) (*mcp.Server, tasks.Source)
	// Idle is how many principals with nothing under way are kept at hand; 0 means 16,384.
	Idle int
	Log  *slog.Logger // nil means no log
}

// Handler is the door over Streamable HTTP: both eras of the protocol at one URL. Whoever comes is asked of the API, by the token
// that every call must bring, and what the API refuses is refused as it does.
type Handler struct {
	options    Options
	api        http.RoundTripper
	principals *principals
	old        http.Handler // with sessions
	new        http.Handler // without
}

// New returns the door to what api serves.
func New(api http.Handler, o Options) *Handler {
	if o.Idle <= 0 {
		o.Idle = maxIdle
	}
	h := &Handler{options: o, api: inprocess.Transport(api), principals: newPrincipals(o.Idle)}
	options := mcp.StreamableHTTPOptions{Logger: o.Log, MaxRequestBodyBytes: MaxBody, DisableLocalhostProtection: true} // the guard before it checks hosts
	session := options
	session.SessionTimeout, session.EventStore = sessionIdle, newReplay()
	options.Stateless, options.PropagateRequestCancellation = true, true
	bearer := auth.RequireBearerToken(tokenInfo, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})
	h.old = bearer(ownSessions(mcp.NewStreamableHTTPHandler(serverOf, &session)))
	h.new = bearer(boundStreams(tasks.Handler(mcp.NewStreamableHTTPHandler(serverOf, &options), tasksOf)))
	return h
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	me, refused := h.identify(r)
	if refused != nil {
		refused.relay(w)
		return
	}
	a := answerTo(w)
	v := &caller{key: keyOf(me), token: bearerOf(r)}
	p, leave, err := h.principals.enter(v.key, func() (*principal, error) { return h.principal(v.token, me.Person) })
	if err != nil {
		http.Error(a, err.Error(), http.StatusInternalServerError)
		return
	}
	defer leave()
	v.principal = p
	p.tokens.use(v.token)
	body, ok := readBody(a, r)
	if !ok {
		return
	}
	ctx, done := h.whileValid(r, v)
	defer done()
	r = r.WithContext(context.WithValue(ctx, callerKey{}, v))
	r.Body = io.NopCloser(bytes.NewReader(body))
	_ = a.control.SetReadDeadline(time.Time{}) // it would count as broken while it waits; a server under test may have none
	if r.Header.Get("Mcp-Protocol-Version") >= StatelessVersion {
		h.new.ServeHTTP(a, r)
		return
	}
	h.old.ServeHTTP(a, r)
}

// readBody reads a message while the connection's read deadline holds, or refuses it.
func readBody(a *answer, r *http.Request) (body []byte, ok bool) {
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	a.id = idOf(body)
	switch {
	case err != nil:
		http.Error(a, "the request's body could not be read", http.StatusBadRequest)
	case len(body) > MaxBody:
		a.Header().Set("Connection", "close")
		http.Error(a, fmt.Sprintf("the message is too large: at most %d bytes are taken. Put large content into an artifact (PUT /v1/artifacts) and refer to it.", MaxBody), http.StatusRequestEntityTooLarge)
	case !utf8.Valid(body): // what is not would be replaced unseen
		http.Error(a, "the message is not UTF-8", http.StatusBadRequest)
	default:
		fault := faultOf(body)
		if fault == "" {
			return body, true
		}
		http.Error(a, fault, http.StatusBadRequest)
	}
	return nil, false
}

// whileValid is a context that ends when the request's token does: a stream may be open for days. The session of a request does not
// end with it, since a client whose token was renewed goes on with the new one; until then nothing is done in it.
func (h *Handler) whileValid(r *http.Request, v *caller) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancel(r.Context())
	var look *time.Timer
	set := make(chan struct{}) // closed when look is
	look = time.AfterFunc(recheckEvery, func() {
		_, refused := h.identify(r)
		switch {
		case refused == nil:
			v.tokens.stillValid(v.token)
		case refused.status == http.StatusUnauthorized:
			cancel()
		}
		if <-set; ctx.Err() == nil {
			look.Reset(recheckEvery)
		}
	})
	close(set)
	return ctx, func() { cancel(); look.Stop() }
}

func serverOf(r *http.Request) *mcp.Server { return callerFrom(r.Context()).server }

func tasksOf(r *http.Request) (tasks.Source, *tasks.Following) {
	v := callerFrom(r.Context())
	return v.tasks, &v.following
}

// principal makes what there is of a principal.
func (h *Handler) principal(token, person string) (*principal, error) {
	p := &principal{tokens: &tokenTransport{api: h.api}}
	c, err := client.New("http://localhost", token, client.Options{HTTP: &http.Client{Transport: p.tokens}, Retries: -1, UserAgent: "trapeze-mcp"})
	if err != nil {
		return nil, err
	}
	p.server, p.tasks = h.options.Make(c, person)
	p.server.AddReceivingMiddleware(withMessageCaller)
	p.sessions = &sessions{server: p.server, known: map[string]*session{}}
	return p, nil
}

// who asks the API whom a request's token speaks for.
func (h *Handler) identify(r *http.Request) (client.Me, *apiRefusal) {
	var me client.Me
	ask, err := http.NewRequestWithContext(r.Context(), http.MethodGet, "http://localhost/v1/me", nil)
	if err != nil {
		return me, &apiRefusal{status: http.StatusInternalServerError}
	}
	ask.Header["Authorization"] = r.Header["Authorization"]
	res, err := h.api.RoundTrip(ask)
	if err != nil {
		return me, &apiRefusal{status: http.StatusServiceUnavailable}
	}
	defer func() { _ = res.Body.Close() }() // it is in memory
	body, err := io.ReadAll(io.LimitReader(res.Body, MaxBody))
	switch {
	case err == nil && res.StatusCode != http.StatusOK:
		return me, &apiRefusal{status: res.StatusCode, header: res.Header, body: body}
	case err != nil || json.Unmarshal(body, &me) != nil:
		return me, &apiRefusal{status: http.StatusInternalServerError}
	}
	return me, nil
}

// apiRefusal is what the API said instead.
type apiRefusal struct {
	status int
	header http.Header
	body   []byte
}

func (c *apiRefusal) relay(w http.ResponseWriter) {
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

// boundStreams refuses a stream of notifications more than a principal may have: each is held for as long as its client likes. A header
// that hides what a message is was never let through.
func boundStreams(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Method") == "subscriptions/listen" {
			open := &callerFrom(r.Context()).streams
			defer open.Add(-1)
			if open.Add(1) > maxStreams {
				w.Header().Set("Retry-After", "60")
				http.Error(w, fmt.Sprintf("you have %d streams of notifications open, which is the most: end one, or let one be about more", maxStreams), http.StatusTooManyRequests)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
