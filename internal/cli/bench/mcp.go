package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// tools is an agent that calls the tools of the MCP server, in one session.
type tools struct{ session *mcp.ClientSession }

// bearer puts a token on every request.
type bearer struct {
	token string
	next  http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

func connect(ctx context.Context, url, token string, t http.RoundTripper) (tools, error) {
	c := mcp.NewClient(&mcp.Implementation{Name: "trapeze-bench", Version: shell.Version()}, nil)
	s, err := c.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: url + "/mcp", HTTPClient: &http.Client{Transport: bearer{token, t}},
	}, nil)
	if err != nil {
		return tools{}, err
	}
	return tools{s}, nil
}

// call calls a tool and decodes its data. A refusal has its code, as over HTTP.
func (t tools) call(ctx context.Context, tool string, args map[string]any, out any) error {
	res, err := t.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return err
	}
	if res.IsError {
		return refused(res)
	}
	data, err := json.Marshal(res.StructuredContent)
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		return fmt.Errorf("the answer of %s: %w", tool, err)
	}
	return nil
}

// refused is the refusal in an answer of a tool: its text begins with the code.
func refused(res *mcp.CallToolResult) error {
	for _, c := range res.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			for _, code := range client.Codes() {
				if strings.HasPrefix(text.Text, string(code)) {
					return &client.Error{Code: code, Message: text.Text}
				}
			}
			return errors.New(text.Text)
		}
	}
	return errors.New("a tool failed and does not say why")
}

// changed is the part of an answer that a later call needs.
type changed struct {
	Task    string `json:"task"`
	Epoch   uint64 `json:"epoch"`
	Handoff string `json:"handoff"`
}

// send hands a new task off. A task that its sender owns takes two calls: no tool creates and delegates at once.
func (t tools) send(ctx context.Context, in client.CreateInput) (sent, error) {
	args := map[string]any{"intent": in.Intent, "to": in.Send.To, "reason": in.Send.Reason}
	if in.Send.Kind != "" {
		args["kind"] = in.Send.Kind
	}
	if in.Start {
		var own changed
		if err := t.call(ctx, "send", map[string]any{"intent": in.Intent}, &own); err != nil {
			return sent{}, err
		}
		delete(args, "intent")
		args["task"], args["epoch"] = own.Task, own.Epoch
	}
	if in.Content.Data != nil {
		args["data"] = in.Content.Data
	}
	if in.Content.Facts != nil {
		facts := make([]string, len(in.Content.Facts)) // a model gives no ids
		for i, f := range in.Content.Facts {
			facts[i] = f.Text
		}
		args["facts"] = facts
	}
	var r changed
	err := t.call(ctx, "send", args, &r)
	return sent{r.Task, r.Handoff, r.Epoch}, err
}

func (t tools) inbox(ctx context.Context, after string) ([]client.Item, string, error) {
	var in struct {
		Items  []client.Item `json:"items"`
		Cursor string        `json:"cursor"`
	}
	err := t.call(ctx, "inbox", map[string]any{"wait": int(wait.Seconds()), "after": after, "limit": 500}, &in)
	return in.Items, in.Cursor, err
}

func (t tools) accept(ctx context.Context, handoff string) (uint64, error) {
	var r changed
	err := t.call(ctx, "accept", map[string]any{"handoff": handoff}, &r)
	return r.Epoch, err
}

func (t tools) complete(ctx context.Context, task string, epoch uint64) error {
	args := map[string]any{"task": task, "text": "done"}
	if epoch > 0 {
		args["epoch"] = epoch
	}
	return t.call(ctx, "complete", args, &changed{})
}

func (t tools) close() { _ = t.session.Close() }
