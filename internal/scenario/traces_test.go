package scenario

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	api "github.com/trapezehq/trapeze/client"
	spans "github.com/trapezehq/trapeze/internal/record/span"
	"github.com/trapezehq/trapeze/internal/server"
)

// tracedServer is a server that sends its spans to a collector.
type tracedServer struct {
	*otlp
	s      *server.Server
	admin  *api.Client
	tokens map[string]string // of agents

	adminToken string
}

func openTraced(t *testing.T, dir string) *tracedServer {
	t.Helper()
	h := &tracedServer{otlp: newOTLP(t), tokens: map[string]string{}}
	h.serveWith(t, server.Config{DataDir: dir, Addr: "127.0.0.1:0"})
	h.agents(t)
	return h
}

// agents registers the agents.
func (h *tracedServer) agents(t *testing.T) {
	t.Helper()
	for _, name := range []string{"coder", "reviewer", "tester"} {
		if _, err := h.admin.RegisterAgent(t.Context(), name, api.AgentSpec{}); err != nil {
			t.Fatal(err)
		}
		token, err := h.admin.CreateToken(t.Context(), api.TokenInput{Role: api.RoleAgent, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		h.tokens[name] = token.Text
	}
}

// serveWith starts the server.
func (h *tracedServer) serveWith(t *testing.T, config server.Config) {
	t.Helper()
	config.Record = recordOf(t, config.DataDir)
	s, err := server.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	h.s = s
	t.Cleanup(h.stop)
	h.adminToken = tokenIn(t, s.AdminTokenFile())
	h.admin = connectTo(t, s.URL(), h.adminToken)
}

// stop ends the server. All its spans have come then.
func (h *tracedServer) stop() {
	if h.s != nil {
		if err := h.s.Close(context.Background()); err != nil {
			h.t.Error(err)
		}
	}
	h.s = nil
}

func (h *tracedServer) as(t *testing.T, name string) *api.Client {
	return connectTo(t, h.s.URL(), h.tokens[name])
}

func connectTo(t *testing.T, url, token string) *api.Client {
	t.Helper()
	c, err := api.New(url, token, api.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// tools is an MCP session of an agent.
type tools struct {
	*mcp.ClientSession
	t *testing.T
}

// withToken puts a token on every request.
type withToken string

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(w))
	return http.DefaultTransport.RoundTrip(r)
}

func (h *tracedServer) tools(t *testing.T, name string) tools {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil)
	s, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: h.s.URL() + "/mcp", HTTPClient: &http.Client{Transport: withToken(h.tokens[name])}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return tools{s, t}
}

func (s tools) call(name string, meta mcp.Meta, args map[string]any) *mcp.CallToolResult {
	s.t.Helper()
	r, err := s.CallTool(s.t.Context(), &mcp.CallToolParams{Meta: meta, Name: name, Arguments: args})
	if err != nil || r.IsError {
		s.t.Fatalf("%s: %+v, %v", name, r, err)
	}
	return r
}

const (
	secretIntent = "Review the merger with Acme before anybody hears of it"
	clientTrace  = "0af7651916cd43dd8448eb211c80319c"
	clientSpan   = "b7ad6b7169203331"
	clientParent = "00-" + clientTrace + "-" + clientSpan + "-01"
)

// three hands a task from coder to reviewer, who works over MCP, and on to tester. Only the first call has the trace context that is given.
func (h *tracedServer) three(t *testing.T, parent string) (task string) {
	t.Helper()
	return h.threeWith(t, parent, h.tools(t, "reviewer"))
}

func (h *tracedServer) threeWith(t *testing.T, parent string, reviewer tools) (task string) {
	t.Helper()
	coder, tester := h.as(t, "coder"), h.as(t, "tester")
	made, err := coder.CreateTask(api.WithTrace(t.Context(), parent, ""), api.CreateInput{Intent: secretIntent, Send: &api.SendInput{To: []string{"reviewer"}}})
	if err != nil {
		t.Fatal(err)
	}
	reviewer.call("inbox", nil, map[string]any{})
	got := reviewer.call("accept", nil, map[string]any{"handoff": made.Handoff})
	if parent, _ := got.Meta["traceparent"].(string); !strings.Contains(parent, clientTrace) {
		t.Errorf("the agent gets %q with the task", parent)
	}
	sent := reviewer.call("send", nil, map[string]any{"task": made.Task, "to": "tester", "summary": "The terms of the merger are checked"})
	data, _ := sent.StructuredContent.(map[string]any)
	handoff, _ := data["handoff"].(string)
	accepted, err := tester.Accept(t.Context(), handoff, api.AcceptInput{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tester.Complete(t.Context(), made.Task, api.CompleteInput{Epoch: accepted.Epoch, Result: api.Result{Text: "The merger may go on"}}); err != nil {
		t.Fatal(err)
	}
	return made.Task
}

// TestATaskOverThreeAgentsIsOneTrace: one of them is reached over MCP, and only the first call has a trace context.
func TestATaskOverThreeAgentsIsOneTrace(t *testing.T) {
	h := openTraced(t, t.TempDir())
	task := h.three(t, clientParent)
	h.stop()
	var mine []received
	for _, s := range h.all() {
		if s.values["trapeze.task.id"] == task || s.trace == clientTrace {
			mine = append(mine, s)
			if s.trace != clientTrace {
				t.Errorf("%s is in another trace", s.name)
			}
		}
		for _, secret := range append([]string{"erger", "Acme"}, h.tokens["coder"], h.tokens["reviewer"], h.tokens["tester"]) {
			if strings.Contains(s.raw, secret) {
				t.Errorf("a span has %q: %s", secret, s.raw)
			}
		}
	}
	const want = `POST /v1/tasks
  task
    handoff
      handoff accept
      handoff complete
      handoff confirm
      handoff request
      handoff seen
      invoke_agent reviewer
        tools/call send
          handoff
            POST /v1/handoffs/{id}/accept
            handoff accept
            handoff complete
            handoff confirm
            handoff request
            invoke_agent tester
              POST /v1/tasks/{id}/complete
      tools/call accept
`
	if got := tree(mine); got != want {
		t.Errorf("the trace is\n%s", got)
	}
	if first := named(mine, "POST /v1/tasks"); len(first) != 1 || first[0].parent != clientSpan || first[0].values["trapeze.task.id"] != task {
		t.Errorf("the first call is not below the span of the client, or does not name the task: %+v", first)
	}
	known := map[string]bool{}
	for _, a := range spans.Attributes() {
		known[a.Name] = true
	}
	for _, s := range h.all() {
		for name := range s.values {
			if !known[name] {
				t.Errorf("%s has the attribute %s, which is not documented", s.name, name)
			}
		}
	}
}

func tokenIn(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}
