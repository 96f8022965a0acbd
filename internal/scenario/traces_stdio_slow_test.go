//go:build slow || outside

package scenario

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/otelapi"
	"github.com/trapezehq/trapeze/internal/api/tracing"
	"github.com/trapezehq/trapeze/internal/cli/stdio"
)

// stdioTools is an MCP session of an agent as trapeze mcp serves it, on standard input and output, in a process of its own. Of the tracer, which
// may be nil, all spans have ended when end returns.
func (h *tracedServer) stdioTools(t *testing.T, name string, tracer tracing.Tracer) (_ tools, end func()) {
	t.Helper()
	c, err := stdio.NewClient(h.s.URL(), h.tokens[name], api.Options{UserAgent: "trapeze-mcp/test"})
	if err != nil {
		t.Fatal(err)
	}
	in, say := io.Pipe()
	hear, out := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- stdio.Run(ctx, c, stdio.Options{Agent: name, Token: h.tokens[name], Tracer: tracer, In: in, Out: out})
	}()
	s, err := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: hear, Writer: say}, nil)
	if err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		stop()
		_ = s.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		c.Close()
	})
	t.Cleanup(end)
	return tools{s, t}, end
}

// TestATaskIsOneTraceOverMCPOnStandardInputAndOutput: the calls of the HTTP API that a tool makes name it and how the MCP session is transported.
func TestATaskIsOneTraceOverMCPOnStandardInputAndOutput(t *testing.T) {
	h := openTraced(t, t.TempDir())
	coder, tester := h.as(t, "coder"), h.as(t, "tester")
	reviewer, _ := h.stdioTools(t, "reviewer", nil)
	made, err := coder.CreateTask(api.WithTrace(t.Context(), clientParent, ""), api.CreateInput{Intent: secretIntent, Send: &api.SendInput{To: []string{"reviewer"}}})
	if err != nil {
		t.Fatal(err)
	}
	meta := mcp.Meta{"traceparent": clientParent}
	reviewer.call("inbox", meta, map[string]any{}) // it only reads
	reviewer.call("accept", nil, map[string]any{"handoff": made.Handoff})
	sent := reviewer.call("send", nil, map[string]any{"task": made.Task, "to": "tester", "summary": "The terms of the merger are checked"})
	data, _ := sent.StructuredContent.(map[string]any)
	handoff, _ := data["handoff"].(string)
	got, err := tester.Accept(t.Context(), handoff, api.AcceptInput{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tester.Complete(t.Context(), made.Task, api.CompleteInput{Epoch: got.Epoch, Result: api.Result{Text: "The merger may go on"}}); err != nil {
		t.Fatal(err)
	}
	h.stop()
	var named []string
	for _, s := range h.all() {
		ofTask := s.values["trapeze.task.id"] == made.Task
		if ofTask && s.trace != clientTrace {
			t.Errorf("%s is in another trace", s.name)
		}
		tool := s.values["gen_ai.tool.name"]
		if tool == "" {
			if s.values["mcp.method.name"] != "" || s.values["network.transport"] != "" {
				t.Errorf("%s says that a tool makes it: %v", s.name, s.values)
			}
			continue
		}
		if s.values["mcp.method.name"] != "tools/call" || s.values["network.transport"] != "pipe" || s.values["http.route"] == "" || s.values["gen_ai.agent.name"] != "reviewer" {
			t.Errorf("%s: %v", s.name, s.values)
		}
		if s.trace == clientTrace {
			named = append(named, tool+": "+s.name)
		}
		if strings.Contains(s.raw, "erger") || strings.Contains(s.raw, h.tokens["reviewer"]) {
			t.Errorf("a span has what it must not: %s", s.raw)
		}
	}
	for _, want := range []string{"inbox: GET /v1/inbox", "accept: POST /v1/handoffs/{id}/accept", "send: POST /v1/tasks/{id}/send"} {
		if !slices.Contains(named, want) {
			t.Errorf("the trace lacks %q: %q", want, named)
		}
	}
}

// TestATaskOverAProcessOfMCPIsOneTrace: one of three agents is reached by `trapeze mcp`, a process with spans of its own, whose client gives no trace
// context. Its tools are in the trace of the task, and the calls of the HTTP API that they make are below them.
func TestATaskOverAProcessOfMCPIsOneTrace(t *testing.T) {
	h := openTraced(t, t.TempDir())
	traces, err := otelapi.OpenTraces(t.Context(), otelapi.Options{Stdio: true})
	if err != nil {
		t.Fatal(err)
	}
	reviewer, end := h.stdioTools(t, "reviewer", traces)
	task := h.threeWith(t, clientParent, reviewer)
	end()
	if err := traces.Close(t.Context()); err != nil {
		t.Error(err)
	}
	h.stop()
	var mine []received
	for _, s := range h.all() {
		if s.trace == clientTrace {
			mine = append(mine, s)
		} else if s.values["trapeze.task.id"] == task {
			t.Errorf("%s is in another trace", s.name)
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
          GET /v1/tasks/{id}
          POST /v1/tasks/{id}/send
            handoff
              POST /v1/handoffs/{id}/accept
              handoff accept
              handoff complete
              handoff confirm
              handoff request
              invoke_agent tester
                POST /v1/tasks/{id}/complete
      tools/call accept
        POST /v1/handoffs/{id}/accept
`
	if got := tree(mine); got != want {
		t.Errorf("the trace is\n%s", got)
	}
	if send := named(mine, "tools/call send"); len(send) != 1 || send[0].values["network.transport"] != "pipe" || send[0].values["gen_ai.agent.name"] != "reviewer" ||
		send[0].values["trapeze.workspace"] != "default" || send[0].values["trapeze.task.id"] != task {
		t.Errorf("the span of the tool: %+v", send)
	}
	inbox := named(h.all(), "tools/call inbox")
	if len(inbox) != 1 {
		t.Fatalf("%d spans of inbox", len(inbox))
	}
	for _, s := range named(h.all(), "GET /v1/inbox") {
		if s.parent != inbox[0].id {
			t.Errorf("a call of the tool inbox is not below it: %s", s.raw)
		}
	}
}
