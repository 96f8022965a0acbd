//go:build slow

package server

import (
	"context"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
)

// A question that a person at the client has not answered stays open, and the agent is told so.
func TestAServerThatStopsAnswersACallThatAsksThePersonAtItsClient(t *testing.T) {
	s, admin := toStop(t, Config{DataDir: t.TempDir(), Addr: "127.0.0.1:0"})
	if _, err := admin.RegisterAgent(t.Context(), "ann", client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	token, err := admin.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAgent, Name: "ann", Person: "pat"})
	if err != nil {
		t.Fatal(err)
	}
	made, err := connect(t, s, token.Text).CreateTask(t.Context(), client.CreateInput{Intent: "Deploy", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	shown := make(chan struct{})
	session := mcpSession(t, s, "2025-06-18", token.Text, &mcp.ClientOptions{
		ElicitationHandler: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			close(shown)
			<-ctx.Done() // the person is away
			return nil, ctx.Err()
		},
	})
	closed := make(chan error, 1)
	go func() {
		<-shown
		closed <- s.Close(context.Background())
	}()
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"task": made.Task, "question": "Now?", "wait": 50}})
	if err != nil {
		t.Fatal(err)
	}
	if text := r.Content[0].(*mcp.TextContent).Text; r.IsError || !strings.Contains(text, made.Task+".k1") {
		t.Errorf("it was answered %q", text)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// A drained server goes on, but nobody waits at it: over MCP a call that waits is told what to do, which works, and offers are accepted as before.
func TestADrainedServerHasCallsOverMCPGoOn(t *testing.T) {
	s, admin := toStop(t, Config{DataDir: t.TempDir(), Addr: "127.0.0.1:0"})
	defer func() { _ = s.Close(context.Background()) }()
	session := mcpSession(t, s, "2025-06-18", agentToken(t, admin, "bob"), nil)
	call := func(tool string, args map[string]any) (string, bool) {
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		return r.Content[0].(*mcp.TextContent).Text, r.IsError
	}
	waits := make(chan string)
	go func() {
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "inbox", Arguments: map[string]any{"wait": 50}})
		if err != nil || !r.IsError {
			t.Errorf("the call that waits: %+v, %v", r, err)
			close(waits)
			return
		}
		waits <- r.Content[0].(*mcp.TextContent).Text
	}()
	waitFor(t, 1)
	s.gate.Drain(true)
	if text := <-waits; !strings.Contains(text, "stopping or drained") || !strings.Contains(text, "with wait=0 if it is refused again") {
		t.Errorf("the call that waited is answered %q", text)
	}
	made, err := admin.CreateTask(t.Context(), client.CreateInput{Intent: "Deploy", Send: &client.SendInput{To: []string{"bob"}}})
	if err != nil {
		t.Fatal(err)
	}
	if text, bad := call("inbox", map[string]any{"wait": 0}); bad || !strings.Contains(text, made.Task+".h1") {
		t.Errorf("the inbox is %q", text)
	}
	if text, bad := call("accept", map[string]any{"handoff": made.Task + ".h1"}); bad {
		t.Errorf("the accept is answered %q", text)
	}
	if task, err := admin.Task(t.Context(), made.Task); err != nil || task.Owner != "bob" {
		t.Errorf("the task: %+v, %v", task, err)
	}
}
