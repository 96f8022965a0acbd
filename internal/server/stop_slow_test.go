//go:build slow

package server

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

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

// mcpSession connects a client over MCP, with a token and a version of the protocol.
func mcpSession(t *testing.T, s *Server, version, token string, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o)
	way := &mcp.StreamableClientTransport{Endpoint: s.URL() + "/mcp", HTTPClient: &http.Client{Transport: withToken(token)}}
	session, err := c.Connect(t.Context(), way, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() }) // the server is gone
	return session
}

type withToken string

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(w))
	return http.DefaultTransport.RoundTrip(r)
}

// waitFor waits until n calls of the HTTP API wait, those that tools of MCP make included.
func waitFor(t *testing.T, n int) {
	t.Helper()
	stacks := make([]byte, 16<<20)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); ; <-tick.C {
		all := string(stacks[:runtime.Stack(stacks, true)])
		found := strings.Count(all, "httpapi.patiently[") + strings.Count(all, "park.(*Place).Wait(") // a tool waits in its own place
		if found >= n {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d of %d calls wait:\n%s", found, n, all)
		}
	}
}

// toStop opens a server that the test closes.
func toStop(t *testing.T, c Config) (*Server, *client.Client) {
	t.Helper()
	s, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return s, connect(t, s, token(t, s))
}

// outcome is what a client got for a call that waited.
type outcome struct {
	call, text string
	err        error
}

func TestAServerThatStopsAnswersEveryCallThatWaits(t *testing.T) {
	for name, c := range map[string]Config{"kept": {DataDir: t.TempDir(), Addr: "127.0.0.1:0"}, "temporary": {Temporary: true, Addr: "127.0.0.1:0"}} {
		t.Run(name, func(t *testing.T) { answersAtItsEnd(t, c) })
	}
}

func answersAtItsEnd(t *testing.T, c Config) {
	s, admin := toStop(t, c)
	ann, bob := agentToken(t, admin, "ann"), agentToken(t, admin, "bob")
	made, err := connect(t, s, ann).CreateTask(t.Context(), client.CreateInput{Intent: "Deploy", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	asked, err := connect(t, s, ann).Ask(t.Context(), made.Task, client.AskInput{Question: "Now?", Epoch: made.Epoch})
	if err != nil {
		t.Fatal(err)
	}
	got, calls := make(chan outcome), 0
	for _, version := range []string{"2025-06-18", "2026-07-28"} {
		for _, call := range []struct {
			token, tool string
			args        map[string]any
		}{
			{bob, "inbox", map[string]any{"wait": 50}},
			{ann, "status", map[string]any{"id": asked.Ticket, "wait": 50}},
			{ann, "status", map[string]any{"id": made.Task, "wait": 50, "after": asked.Position}},
		} {
			session := mcpSession(t, s, version, call.token, nil)
			calls++
			go func() {
				r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: call.tool, Arguments: call.args})
				o := outcome{call: version + " " + call.tool, err: err}
				if err == nil && r.IsError {
					o.text = r.Content[0].(*mcp.TextContent).Text
				}
				got <- o
			}()
		}
	}
	plain := map[string]func(*client.Client) error{
		"GET inbox": func(c *client.Client) error {
			_, err := c.Inbox(t.Context(), client.InboxOptions{Wait: 50 * time.Second})
			return err
		},
		"GET ticket": func(c *client.Client) error {
			_, err := c.Ticket(t.Context(), asked.Ticket, 50*time.Second)
			return err
		},
		"GET task": func(c *client.Client) error {
			_, err := c.WaitTask(t.Context(), made.Task, asked.Position, 50*time.Second)
			return err
		},
	}
	for call, do := range plain {
		once, err := client.New(s.URL(), ann, client.Options{Retries: -1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(once.Close)
		calls++
		go func() {
			o := outcome{call: call}
			if refused := (*client.Error)(nil); errors.As(do(once), &refused) && refused.Code == client.Unavailable {
				o.text = refused.Error()
			}
			got <- o
		}()
	}
	waitFor(t, calls)
	closed := make(chan error)
	go func() { closed <- s.Close(context.Background()) }()
	for range calls {
		if o := <-got; o.err != nil || !strings.Contains(o.text, "unavailable: the server is stopping") {
			t.Errorf("%s was answered %q, %v", o.call, o.text, o.err)
		}
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}
