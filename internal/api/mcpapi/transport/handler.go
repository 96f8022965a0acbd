package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/inprocess"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/taskext"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/toolset"
	"github.com/trapezehq/trapeze/internal/domain/help"
)

const (
	// MaxBody is the maximum size of a message, in bytes.
	MaxBody = 1 << 20
	// MaxBatch is the maximum number of messages in a batch, in the protocol versions that have batches.
	MaxBatch = 256
	// StatelessVersion is the first protocol version without sessions.
	StatelessVersion = "2026-07-28"
	// sessionIdle is how long a session of the older protocol may be idle. After that the client must start another.
	sessionIdle = 12 * time.Hour
	// maxSessions is the maximum number of open sessions of a principal, in the older protocol.
	maxSessions = 64
	// maxStreams is the maximum number of open notification streams of a principal, in the newer protocol.
	maxStreams = 64
	// maxIdle is the maximum number of principals without requests that are kept; the least recently used are removed first.
	maxIdle = 16_384
	// recheckEvery is the interval at which the token of a long request is checked again.
	recheckEvery = 15 * time.Second
	// answerLimit is the deadline of one write of a response.
	answerLimit = 2 * time.Minute
	// scopeAct is the scope of tokens that may do more than read.
	scopeAct = "trapeze:act"
)

// Options of a [Handler].
type Options struct {
	// Make returns the MCP server of a principal and the source of its tasks, whenever it has none. The client calls the API as the principal: with the token
	// of the current call, or outside of calls with the newest token seen. person is the user of the client, from the token; empty if
	// there is none. The server gives a new session the next id of ids (GetSessionID).
	Make func(c *client.Client, person string, ids func() string) (*mcp.Server, taskext.Source)
	// Idle is the maximum number of principals without requests that are kept; 0 means 16,384.
	Idle int
	// Turn waits for the turn of a principal to have a message decoded, which may be large; leave ends it. nil means that nothing waits.
	Turn func(ctx context.Context, workspace, role, name string, large bool) (leave func(), err error)
	// Waits returns what the call of a tool waits for, which it does before the server has it; ok is false if it does not wait. nil means that
	// no call does.
	Waits func(params *mcp.CallToolParamsRaw, tools toolset.Set) (w Wait, ok bool)
	// Stopping returns a context that ends when the server stops or is drained: no message waits then. nil: it never does.
	Stopping func() context.Context
	Log      *slog.Logger // nil means no log
}

// Handler serves Streamable HTTP: the protocol versions with sessions and those without at one URL. Every request must have a token,
// and the API says which principal it belongs to. A refusal of the API is relayed unchanged.
type Handler struct {
	options    Options
	api        http.RoundTripper
	principals *principals
	old        http.Handler // versions with sessions
	new        http.Handler // versions without sessions
}

// New returns a handler whose servers call api, the HTTP API.
func New(api http.Handler, o Options) *Handler {
	if o.Idle <= 0 {
		o.Idle = maxIdle
	}
	if o.Stopping == nil {
		o.Stopping = context.Background
	}
	h := &Handler{options: o, api: inprocess.Transport(api), principals: newPrincipals(o.Idle)}
	options := mcp.StreamableHTTPOptions{Logger: o.Log, MaxRequestBodyBytes: MaxBody, DisableLocalhostProtection: true} // the HTTP API checks hosts
	session := options
	session.SessionTimeout, session.EventStore = sessionIdle, newEventStore()
	options.Stateless, options.PropagateRequestCancellation = true, true
	bearer := auth.RequireBearerToken(tokenInfo, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})
	h.old = bearer(ownSessions(newProcess(), mcp.NewStreamableHTTPHandler(serverOf, &session)))
	h.new = bearer(boundStreams(taskext.Handler(mcp.NewStreamableHTTPHandler(serverOf, &options), tasksOf)))
	return h
}

// ServeHTTP implements [http.Handler]. A message that waits does so here, where it has one goroutine with a small stack, before the SDK is given it.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m := &message{w: w, r: r}
	defer m.leave()
	h.admit(m)
	for m.place != nil && m.place.Wait(m.r.Context(), h.options.Stopping(), m.end) {
		h.ask(m)
	}
	if m.to == nil || m.place != nil && r.Context().Err() != nil { // or the client is gone
		return
	}
	leave, err := m.of.serving.enter(func() (*mcp.Server, taskext.Source, error) { return h.create(m.of) })
	if err != nil {
		http.Error(m.w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer leave()
	m.to.ServeHTTP(m.w, m.r)
}

// admit answers a message that is refused, or sets what serves it, and the place in which it waits before.
func (h *Handler) admit(m *message) {
	me, refused := h.identify(m.r, "")
	if refused != nil {
		refused.relay(m.w)
		return
	}
	a := answerTo(m.w)
	v := &caller{key: keyOf(me), token: bearerOf(m.r)}
	p, leave := h.principals.enter(v.key, func() *principal { return h.principal(me.Person) })
	m.done = append(m.done, leave, v.decoded)
	v.principal = p
	p.tokens.use(v.token)
	body, ok := h.read(a, m.r, me, v)
	if !ok {
		return
	}
	if me.Role == client.RoleAdmin {
		_, refused := h.identify(m.r, "?for_model=true") // which is recorded
		http.Error(a, refused.text(), http.StatusForbidden)
		return
	}
	var err error
	if v.tools, err = toolset.Parse(m.r.URL.Query()); err != nil {
		http.Error(a, strings.TrimPrefix(err.Error(), string(client.Invalid)+": "), http.StatusBadRequest)
		return
	}
	ctx, done := h.whileValid(m.r, v)
	m.done = append(m.done, done)
	m.w, m.r, m.to, m.of = a, m.r.WithContext(within(ctx, v)), h.old, v
	m.r.Body = io.NopCloser(bytes.NewReader(body))
	_ = a.control.SetReadDeadline(time.Time{}) // a waiting connection would time out; not supported by test servers
	if m.r.Header.Get("Mcp-Protocol-Version") >= StatelessVersion {
		m.to = h.new
		h.park(m, v, body)
	}
}

// whileValid returns a context that ends when the token of the request becomes invalid: a stream may be open for days. The session does
// not end with it, because a client may continue it with a new token. Meanwhile the agent is present.
func (h *Handler) whileValid(r *http.Request, v *caller) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancel(r.Context())
	var look *time.Timer
	set := make(chan struct{}) // closed when look is set
	look = time.AfterFunc(recheckEvery, func() {
		me, refused := h.identify(r, "")
		switch {
		case refused == nil:
			v.tokens.stillValid(v.token)
			h.beat(ctx, r, me)
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

func serverOf(r *http.Request) *mcp.Server {
	s, _ := callerFrom(r.Context()).serving.now()
	return s
}

func tasksOf(r *http.Request) (taskext.Source, *taskext.Following) {
	v := callerFrom(r.Context())
	_, tasks := v.serving.now()
	return tasks, &v.following
}

// principal creates the state of a principal.
func (h *Handler) principal(person string) *principal {
	p := &principal{person: person, tokens: tokenTransport{api: h.api}}
	p.sessions = sessions{of: &p.serving, again: make(chan struct{}, 1), known: map[string]*session{}}
	return p
}

// create creates the server of the principal of a caller.
func (h *Handler) create(v *caller) (*mcp.Server, taskext.Source, error) {
	c, err := client.New("http://localhost", v.token, client.Options{HTTP: &http.Client{Transport: &v.tokens}, Retries: -1, UserAgent: "trapeze-mcp"})
	if err != nil {
		return nil, nil, err
	}
	s, tasks := h.options.Make(c, v.person, v.ids.take)
	s.AddReceivingMiddleware(withMessageCaller)
	return s, tasks, nil
}

// beat sends a heartbeat of an agent whose client keeps a request open, unless its token may only read.
func (h *Handler) beat(ctx context.Context, r *http.Request, me client.Me) {
	if me.Agent == "" || me.Scopes != nil && !slices.Contains(me.Scopes, scopeAct) {
		return
	}
	if say, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/v1/presence", nil); err == nil {
		say.Header["Authorization"] = r.Header["Authorization"]
		if res, err := h.api.RoundTrip(say); err == nil { // the next one is sent in any case
			_ = res.Body.Close() // in memory
		}
	}
}

// identify asks the API for the principal of the token of a request.
func (h *Handler) identify(r *http.Request, query string) (client.Me, *apiRefusal) {
	var me client.Me
	ask, err := http.NewRequestWithContext(r.Context(), http.MethodGet, "http://localhost/v1/me"+query, nil)
	if err != nil {
		return me, &apiRefusal{status: http.StatusInternalServerError}
	}
	ask.Header["Authorization"] = r.Header["Authorization"]
	res, err := h.api.RoundTrip(ask)
	if err != nil {
		return me, &apiRefusal{status: http.StatusServiceUnavailable}
	}
	defer func() { _ = res.Body.Close() }() // in memory
	body, err := io.ReadAll(io.LimitReader(res.Body, MaxBody))
	switch {
	case err == nil && res.StatusCode != http.StatusOK:
		return me, &apiRefusal{status: res.StatusCode, header: res.Header, body: explained(body)}
	case err != nil || json.Unmarshal(body, &me) != nil:
		return me, &apiRefusal{status: http.StatusInternalServerError}
	}
	return me, nil
}

// apiRefusal is a refusal of the API.
type apiRefusal struct {
	status int
	header http.Header
	body   []byte
}

// explained returns a problem whose hint has the commands that do what it says: it is for the person who sets a client up.
func explained(body []byte) []byte {
	var all map[string]any
	var problem struct {
		Hint  string
		Helps []help.Help
	}
	if json.Unmarshal(body, &problem) != nil || problem.Helps == nil || json.Unmarshal(body, &all) != nil {
		return body
	}
	all["hint"] = help.Explain(problem.Hint, problem.Helps, help.Help.Command)
	changed, err := json.Marshal(all)
	if err != nil {
		return body
	}
	return changed
}

// text is the refusal in words.
func (c *apiRefusal) text() string {
	const general = "this token is not for models"
	var problem struct{ Detail, Hint string }
	if c == nil || json.Unmarshal(c.body, &problem) != nil || problem.Detail == "" {
		return general
	}
	return problem.Detail + ": " + problem.Hint
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

// boundStreams limits the notification streams of a principal, which stay open as long as the client wants. The SDK refuses a message
// whose method differs from its header.
func boundStreams(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Method") == "subscriptions/listen" {
			open := &callerFrom(r.Context()).streams
			defer open.Add(-1)
			if open.Add(1) > maxStreams {
				w.Header().Set("Retry-After", "60")
				http.Error(w, fmt.Sprintf("you have %d notification streams open, which is the limit: close one, or subscribe to more resources in one stream", maxStreams), http.StatusTooManyRequests)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
