package mcptest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/internal/api/mcpapi/taskext"
)

// tools are the tools that begin tasks.
func (m *Memory) tools() map[string]handler {
	return map[string]handler{
		"greet": func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return say("Hello, " + argument(req, "name") + "!"), nil
		},
		"slow_compute":        m.slowCompute,
		"failing_job":         m.only(failing),
		"protocol_error_job":  m.only(breaking),
		"confirm_delete":      m.asking("confirm"),
		"multi_input":         m.asking("first", "second"),
		"test_tool_with_task": m.afterAsking,
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// failing is the job of a tool that fails; breaking, that of one whose call is an error of the protocol.
func failing(ctx context.Context, _ Ask) (*mcp.CallToolResult, error) {
	sleep(ctx, time.Second)
	return &mcp.CallToolResult{IsError: true, Content: words("The job has failed, as it should.")}, nil
}

func breaking(ctx context.Context, _ Ask) (*mcp.CallToolResult, error) {
	sleep(ctx, time.Second)
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the job broke the protocol, as it should"}
}

// slowCompute takes a number of seconds, at once or later as the client can.
func (m *Memory) slowCompute(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in struct {
		Seconds float64 `json:"seconds"`
		Label   string  `json:"label"`
	}
	if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	span := time.Duration(in.Seconds * float64(time.Second))
	result := say(fmt.Sprintf("computed %s in %v", in.Label, span))
	if !taskext.Supported(ctx) {
		sleep(ctx, span)
		return result, ctx.Err()
	}
	return m.later(ctx, func(ctx context.Context, _ Ask) (*mcp.CallToolResult, error) {
		sleep(ctx, span)
		return result, nil
	})
}

// later begins a task in the place of a result.
func (m *Memory) later(ctx context.Context, do Work) (*mcp.CallToolResult, error) {
	if !taskext.Supported(ctx) {
		return nil, taskext.Required()
	}
	taskext.Later(ctx, m.Begin(do))
	return &mcp.CallToolResult{}, nil
}

// only is a tool for clients that can do tasks.
func (m *Memory) only(do Work) handler {
	return func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return m.later(ctx, do)
	}
}

// asking is a tool whose task asks several things at once. Without a task it asks nothing.
func (m *Memory) asking(keys ...string) handler {
	questions := map[string]*mcp.ElicitParams{}
	for _, key := range keys {
		questions[key] = elicit("Yes or no ("+key+")?", `{"confirm":{"type":"boolean"}}`, "confirm")
	}
	return func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if !taskext.Supported(ctx) {
			return say("Nobody was asked."), nil
		}
		return m.later(ctx, func(_ context.Context, ask Ask) (*mcp.CallToolResult, error) {
			return say(fmt.Sprintf("%d answers", len(ask(questions)))), nil
		})
	}
}

// afterAsking asks before the task begins, and works with the answer then.
func (m *Memory) afterAsking(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	name := filled(req, "user_name", "name")
	if name == "" {
		return ask(mcp.InputRequestMap{"user_name": askName()}, sealed("name")), nil
	}
	if _, err := opened(req.Params.RequestState); err != nil {
		return nil, err
	}
	return m.later(ctx, func(ctx context.Context, _ Ask) (*mcp.CallToolResult, error) {
		sleep(ctx, pause)
		return say("Done for " + name + "."), nil
	})
}

// Quick is a tool whose task has ended before its handle is given.
func (m *Memory) Quick(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	id := m.Begin(func(context.Context, Ask) (*mcp.CallToolResult, error) { return say("It was nothing."), nil })
	for t := (taskext.Task{ID: id, Status: taskext.Working}); !t.Status.Final(); {
		var err error
		if t, err = m.Changed(ctx, t); err != nil {
			return nil, err
		}
	}
	taskext.Later(ctx, id)
	return &mcp.CallToolResult{}, nil
}
