//nolint:staticcheck // the suite asks for what is deprecated too: roots, sampling, logging
package mcptest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// contents are the tools that return one kind of content each.
var contents = map[string]handler{
	"test_simple_text":   always(words("This is a simple text response for testing.")...),
	"test_image_content": always(&mcp.ImageContent{Data: picture, MIMEType: "image/png"}),
	"test_audio_content": always(&mcp.AudioContent{Data: silence, MIMEType: "audio/wav"}),
	"test_embedded_resource": always(&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{
		URI: "test://embedded-resource", MIMEType: "text/plain", Text: "This is an embedded resource content.",
	}}),
	"test_multiple_content_types": always(
		&mcp.TextContent{Text: "Multiple content types test:"},
		&mcp.ImageContent{Data: picture, MIMEType: "image/png"},
		&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{
			URI: "test://mixed-content-resource", MIMEType: "application/json", Text: `{"test":"data","value":123}`,
		}}),
	"test_error_handling": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Content: words("This tool intentionally returns an error for testing")}, nil
	},
	"json_schema_2020_12_tool": always(words("taken")...),
	"test_x_mcp_header": func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return say("region=" + argument(req, "region")), nil
	},
	"test_streaming_elicitation": always(words("Nothing was asked on the stream.")...),
	"test_missing_capability": func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if c := req.ClientCapabilities(); c != nil && c.Sampling != nil {
			return say("The client can sample."), nil
		}
		data, err := json.Marshal(mcp.MissingRequiredClientCapabilityData{
			RequiredCapabilities: &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}},
		})
		return nil, errorOr(err, &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "sampling is needed", Data: data})
	},
}

func errorOr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

func always(c ...mcp.Content) handler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: c}, nil
	}
}

// pause is between two messages of a tool that sends several.
const pause = 50 * time.Millisecond

// talkers are the tools that send something while they run.
var talkers = map[string]handler{
	"test_tool_with_logging": func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for _, text := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
			if err := log(ctx, req, text); err != nil {
				return nil, err
			}
			time.Sleep(pause)
		}
		return say("Three messages were logged."), nil
	},
	"test_logging_tool": func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return say("Tried to log."), log(ctx, req, "test_logging_tool has run")
	},
	"test_tool_with_progress": func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		token := req.Params.GetProgressToken()
		for _, done := range []float64{0, 50, 100} {
			err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Progress: done, Total: 100, Message: fmt.Sprintf("%v of 100", done),
			})
			if err != nil {
				return nil, err
			}
			time.Sleep(pause)
		}
		return say(fmt.Sprint(token)), nil
	},
	"test_reconnection": func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if req.Extra != nil && req.Extra.CloseSSEStream != nil {
			req.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
		}
		time.Sleep(2 * pause)
		return say("Reconnection test completed successfully."), nil
	},
}

func log(ctx context.Context, req *mcp.CallToolRequest, text string) error {
	return req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: text})
}

// changers are the tools that change what there is on the server.
func changers(s *mcp.Server) map[string]handler {
	return map[string]handler{
		"test_trigger_tool_change": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			s.AddTool(&mcp.Tool{Name: passing, Description: about, InputSchema: json.RawMessage(nothing)}, mcp.ToolHandler(always(words("here")...)))
			return say("The tools have changed."), nil
		},
		"test_trigger_prompt_change": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			s.AddPrompt(&mcp.Prompt{Name: "test_passing_prompt", Description: about}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				return prompt(&mcp.TextContent{Text: "here"}), nil
			})
			return say("The prompts have changed."), nil
		},
	}
}
