package scenario

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/stdio"
)

// stdioTools is an MCP session of an agent as trapeze mcp serves it, on standard input and output, in a process of its own.
func (h *tracedServer) stdioTools(t *testing.T, name string) tools {
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
		ended <- stdio.Run(ctx, c, stdio.Options{Agent: name, Token: h.tokens[name], In: in, Out: out})
	}()
	s, err := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: hear, Writer: say}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = s.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		c.Close()
	})
	return tools{s, t}
}

// TestATaskIsOneTraceOverMCPOnStandardInputAndOutput: the calls of the HTTP API that a tool makes name it and how the MCP session is transported.
func TestATaskIsOneTraceOverMCPOnStandardInputAndOutput(t *testing.T) {
	h := openTraced(t, t.TempDir())
	coder, tester, reviewer := h.as(t, "coder"), h.as(t, "tester"), h.stdioTools(t, "reviewer")
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
