//go:build slow

package trapezetest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	kit "github.com/trapezehq/trapeze/trapezetest"
)

// span is a traceparent of a trace, by the number of its span.
func span(trace string, n int) string { return fmt.Sprintf("00-%s-%016x-01", trace, n) }

const (
	aTrace       = "0af7651916cd43dd8448eb211c80319c"
	anotherTrace = "11f7651916cd43dd8448eb211c80319c"
)

// traceOf is the trace in the context that an agent was given.
func traceOf(j *kit.Job) string {
	_, after, _ := strings.Cut(string(j.Envelope), `"traceparent":"00-`)
	trace, _, _ := strings.Cut(after, "-")
	return trace
}

// traced hands on within the trace that the agent was given, or within another one.
func traced(next string, n int, trace string) kit.Step {
	return kit.Do("hand on", func(ctx context.Context, j *kit.Job) error {
		if trace == "" {
			trace = traceOf(j)
		}
		_, err := j.Client.Send(client.WithTrace(ctx, span(trace, n), ""), j.Task, client.SendInput{Epoch: j.Epoch, To: []string{next}})
		return err
	})
}

// withToken puts a token on every request.
type withToken string

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(w))
	return http.DefaultTransport.RoundTrip(r)
}

// toolAgent waits for one offer over MCP, and hands it on within the trace that came with the answer of accept.
func toolAgent(ctx context.Context, s *kit.Server, token, next string) (err error) {
	session, err := mcp.NewClient(&mcp.Implementation{Name: "coder", Version: "1"}, nil).
		Connect(ctx, &mcp.StreamableClientTransport{Endpoint: s.URL() + "/mcp", HTTPClient: &http.Client{Transport: withToken(token)}}, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	call := func(tool string, meta mcp.Meta, args map[string]any) (*mcp.CallToolResult, error) {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Meta: meta, Name: tool, Arguments: args})
		if err == nil && res.IsError {
			err = fmt.Errorf("%s was refused: %+v", tool, res.Content[0])
		}
		return res, err
	}
	inbox, err := call("inbox", nil, map[string]any{"wait": 45})
	if err != nil {
		return err
	}
	data, _ := inbox.StructuredContent.(map[string]any)
	items, _ := data["items"].([]any)
	if len(items) != 1 {
		return fmt.Errorf("the inbox has %v", data)
	}
	offer, _ := items[0].(map[string]any)
	got, err := call("accept", nil, map[string]any{"handoff": offer["id"]})
	if err != nil {
		return err
	}
	parent, _ := got.Meta["traceparent"].(string)
	parts := strings.Split(parent, "-")
	if len(parts) != 4 || got.Meta["tracestate"] != "vendor=1" {
		return fmt.Errorf("accept has no trace context: %v", got.Meta)
	}
	_, err = call("send", mcp.Meta{"traceparent": span(parts[1], 2)}, map[string]any{"task": offer["task"], "to": next})
	return err
}

func TestOneTraceSpansATaskOverThreeAgentsOneOfThemOverMCP(t *testing.T) {
	t.Parallel()
	s := kit.Start(t)
	token := s.Token("coder")
	done := make(chan error, 1)
	go func() { done <- toolAgent(t.Context(), s, token, "reviewer") }()
	s.Agent("researcher", kit.Accept(kit.Do("hand on", func(ctx context.Context, j *kit.Job) error {
		if traceOf(j) != aTrace {
			return fmt.Errorf("the envelope has no trace: %s", j.Envelope)
		}
		_, err := j.Client.Send(client.WithTrace(ctx, span(traceOf(j), 1), "vendor=1"), j.Task, client.SendInput{Epoch: j.Epoch, To: []string{"coder"}})
		return err
	})))
	s.Agent("reviewer", kit.Accept(kit.Complete("fixed")))
	r, err := s.Admin().CreateTask(client.WithTrace(t.Context(), span(aTrace, 9), ""), client.CreateInput{Intent: "Fix the login", Send: to("researcher")})
	if err != nil {
		t.Fatal(err)
	}
	chain := s.Wait(r.Task)
	if err := <-done; err != nil {
		t.Error(err)
	}
	chain.Completed()
	chain.Owners("researcher", "coder", "reviewer")
	chain.OneTrace()
	for i, want := range []string{span(aTrace, 9), span(aTrace, 1), span(aTrace, 2)} {
		if i >= len(chain.Hops) || chain.Hops[i].Trace != want {
			t.Errorf("hop %d: want the trace context %s: %+v", i+1, want, chain.Hops)
		}
	}
}

func TestABrokenTraceIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first context.Context
		step  kit.Step
		want  string
	}{
		"another trace": {client.WithTrace(context.Background(), span(aTrace, 1), ""), traced("last", 2, anotherTrace), "hop 2, first to last: a new trace " + anotherTrace + " begins"},
		"none":          {context.Background(), kit.HandOn("last"), "hop 1, admin/local to first: the receiver was given no trace context"},
	} {
		w := watched(t, func(t kit.T) {
			s := kit.Start(t)
			s.Agent("first", kit.Accept(c.step))
			s.Agent("last", kit.Accept(kit.Complete("fixed")))
			r, err := s.Admin().CreateTask(c.first, client.CreateInput{Intent: "Fix the login", Send: to("first")})
			if err != nil {
				t.Fatalf("%v", err)
			}
			if s.Run(r.Task).OneTrace() {
				t.Errorf("the assertion holds")
			}
		})
		if got := strings.Join(w.failures, "\n"); !strings.Contains(got, c.want) || strings.Contains(got, "holds") {
			t.Errorf("%s: the failures lack %q:\n%s", name, c.want, got)
		}
	}
}
