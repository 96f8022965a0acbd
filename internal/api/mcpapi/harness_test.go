package mcpapi_test

import (
	"context"
	"encoding/json"
	"flag"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/api/inprocess"
	"github.com/trapezehq/trapeze/internal/api/mcpapi"
	"github.com/trapezehq/trapeze/internal/delivery/courier"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/files/artifact/filestore"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/memdir"
	"github.com/trapezehq/trapeze/internal/record/view/sqltest"
)

// The last protocol version with sessions, and the first without.
const (
	sessionVersion   = "2025-11-25"
	statelessVersion = "2026-07-28"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if bench := flag.Lookup("test.bench"); bench == nil || bench.Value.String() == "" {
		debug.SetGCPercent(400) // each test opens servers, and most of what it allocates stays until its end
	}
	memdir.Main(m)
}

// harness is a server. Unless deliver is called its courier does not run: only calls have effects.
type harness struct {
	ahead atomic.Int64 // of the clock of the server, as a duration
	t     testing.TB
	post  *courier.Courier
	api   http.Handler
	admin *client.Client

	waiting atomic.Int64 // calls of MCP that wait in inboxes
}

func open(t testing.TB) *harness {
	t.Helper()
	return openWith(t, usecase.Options{}, httpapi.Resource{})
}

// openWith opens a server with options, such as an issuer whose tokens count, too.
func openWith(t testing.TB, o usecase.Options, resource httpapi.Resource) *harness {
	t.Helper()
	log, views := sqltest.Open(t)
	store, err := filestore.Open(t.TempDir(), filestore.Options{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{t: t}
	o.Artifacts, o.Now = store, func() time.Time { return time.Now().Add(time.Duration(h.ahead.Load())) }
	a, err := usecase.New(log, views.Store(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	admin, err := a.Tokens.Bootstrap(t.Context(), identity.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	h.post = courier.New(a.FollowUp, log, views.Store(), courier.Options{Log: quiet})
	h.api = h.counted(httpapi.New(&a.Surface, httpapi.Options{Log: quiet, Version: "test", Resource: resource, Mounts: map[string]func(http.Handler) http.Handler{
		"/mcp": func(api http.Handler) http.Handler {
			return mcpapi.NewHandler(h.counted(api), mcpapi.HandlerOptions{Options: mcpapi.Options{Version: "test"}, Log: quiet})
		},
	}}))
	h.admin = h.as(admin)
	return h
}

// deliver runs the courier until stop is called: timeouts fire, and effects across tasks happen.
func (h *harness) deliver() (stop func()) {
	ctx, cancel := context.WithCancel(h.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.post.Run(ctx)
	}()
	return func() { cancel(); <-done }
}

// counted counts the calls that were made to wait for an inbox.
func (h *harness) counted(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/inbox" && r.URL.Query().Get("wait") != "" {
			h.waiting.Add(1)
		}
		api.ServeHTTP(w, r)
	})
}

// as returns a client of the HTTP API for a token.
func (h *harness) as(token string) *client.Client {
	h.t.Helper()
	c, err := client.New("http://localhost", token, client.Options{Retries: -1, HTTP: &http.Client{Transport: inprocess.Transport(h.api)}})
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

// token registers an agent and returns a token for it.
func (h *harness) token(name string, capabilities ...string) string {
	h.t.Helper()
	spec := client.AgentSpec{Capabilities: capabilities}
	if len(capabilities) > 0 && capabilities[0] == "human" {
		spec = client.AgentSpec{Kind: "human", Capabilities: capabilities[1:]}
	}
	if _, err := h.admin.RegisterAgent(h.t.Context(), name, spec); err != nil {
		h.t.Fatal(err)
	}
	return h.tokenAt(name, "")
}

// tokenAt returns a token for a registered agent with a person at its client.
func (h *harness) tokenAt(name, person string) string {
	h.t.Helper()
	t, err := h.admin.CreateToken(h.t.Context(), client.TokenInput{Role: client.RoleAgent, Name: name, Person: person})
	if err != nil {
		h.t.Fatal(err)
	}
	return t.Text
}

// revoke revokes all tokens of an agent.
func (h *harness) revoke(name string) {
	h.t.Helper()
	list, err := h.admin.Tokens(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	for _, k := range list.Tokens {
		if k.Name != name || !k.Revoked.IsZero() {
			continue
		}
		if _, err := h.admin.RevokeToken(h.t.Context(), k.ID); err != nil {
			h.t.Fatal(err)
		}
	}
}

// agent is an agent connected over MCP.
type agent struct {
	*mcp.ClientSession
	t    testing.TB
	name string
}

// agent connects an agent with a protocol version, over HTTP in the process.
func (h *harness) agent(version, name string, capabilities ...string) *agent {
	h.t.Helper()
	return h.connect(version, name, h.token(name, capabilities...), nil)
}

// connect connects a client with a token.
func (h *harness) connect(version, name, token string, o *mcp.ClientOptions) *agent {
	h.t.Helper()
	return h.connectOn(bearer{token, inprocess.Transport(h.api)}, version, name, o)
}

// connectOn connects a client through a RoundTripper that adds its token.
func (h *harness) connectOn(way http.RoundTripper, version, name string, o *mcp.ClientOptions) *agent {
	h.t.Helper()
	transport := &mcp.StreamableClientTransport{Endpoint: "http://localhost/mcp", HTTPClient: &http.Client{Transport: way}}
	c := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, o)
	s, err := c.Connect(h.t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = s.Close() })
	return &agent{s, h.t, name}
}

// bearer puts a token on every request.
type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// call calls a tool, which must not refuse, and returns its text and data.
func (a *agent) call(tool string, args map[string]any) (string, map[string]any) {
	a.t.Helper()
	text, data, refused := a.try(tool, args)
	if refused {
		a.t.Fatalf("%s: %s was refused: %s", a.name, tool, text)
	}
	return text, data
}

// fits validates the data of a result against the output schema of the tool.
func (a *agent) fits(tool string, data any) {
	a.t.Helper()
	list, err := a.ListTools(context.Background(), nil)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, x := range list.Tools {
		if x.Name != tool || x.OutputSchema == nil {
			continue
		}
		var schema jsonschema.Schema
		b, err := json.Marshal(x.OutputSchema)
		if err == nil {
			err = json.Unmarshal(b, &schema)
		}
		if err != nil {
			a.t.Fatal(err)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			a.t.Fatal(err)
		}
		if err := resolved.Validate(data); err != nil {
			a.t.Errorf("%s returned %v, which violates its output schema: %v", tool, data, err)
		}
	}
}

// try calls a tool. Its data is the structured content, or else the receipt in _meta.
func (a *agent) try(tool string, args any) (text string, data map[string]any, refused bool) {
	a.t.Helper()
	r, err := a.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		a.t.Fatalf("%s: %s: %v", a.name, tool, err)
	}
	var b strings.Builder
	for _, c := range r.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			b.WriteString(c.Text)
		}
	}
	data, _ = r.StructuredContent.(map[string]any)
	switch {
	case r.StructuredContent != nil: // refusals, too: some clients validate them
		a.fits(tool, r.StructuredContent)
	case !r.IsError: // it is to be read; programs find the receipt beside it
		data, _ = r.Meta["trapeze/receipt"].(map[string]any)
	}
	return b.String(), data, r.IsError
}
