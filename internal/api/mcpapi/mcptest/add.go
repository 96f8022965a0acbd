package mcptest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// handler is a fixture tool.
type handler func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error)

// about describes every fixture.
const about = "A fixture of the conformance suite."

// nothing is the input schema of tools that do not care.
const nothing = `{"type":"object"}`

// Add puts the fixtures on a server. The tasks that some of the tools begin are in m, which [tasks.Install] must have been
// given too.
func Add(s *mcp.Server, m *Memory) {
	for name, h := range fixtures(s, m) {
		s.AddTool(&mcp.Tool{Name: name, Description: about, InputSchema: schema(name)}, mcp.ToolHandler(h))
	}
	addResources(s)
	addPrompts(s)
	s.AddReceivingMiddleware(ownNames)
}

// fixtures are the tools by their names.
func fixtures(s *mcp.Server, m *Memory) map[string]handler {
	all := map[string]handler{}
	for _, group := range []map[string]handler{contents, talkers, askers, changers(s), m.tools()} {
		maps.Copy(all, group)
	}
	return all
}

// Names are the names of the tools that [Add] puts on a server, and that they put there.
func Names(m *Memory) map[string]bool {
	names := map[string]bool{passing: true}
	for name := range fixtures(nil, m) {
		names[name] = true
	}
	return names
}

// passing is the name of the tool that appears when the tools change.
const passing = "test_passing_tool"

// nothingToSay answers where a fixture has nothing to say.
type nothingToSay struct{ mcp.ResultBase }

// ownNames answers what is asked about names that only the fixtures have, and that the server's own handlers would refuse with
// reason: the completion of their arguments, and subscriptions to their resources. Whether the methods are there, and how
// they are answered, is the server's business all the same.
func ownNames(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch p := req.GetParams().(type) {
		case *mcp.CompleteParams:
			if p.Ref != nil && strings.HasPrefix(p.Ref.Name+p.Ref.URI, "test") {
				return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
			}
		case *mcp.SubscribeParams:
			if strings.HasPrefix(p.URI, "test:") {
				return &nothingToSay{}, nil
			}
		case *mcp.UnsubscribeParams:
			if strings.HasPrefix(p.URI, "test:") {
				return &nothingToSay{}, nil
			}
		}
		return next(ctx, method, req)
	}
}

// schema is what a tool takes.
func schema(name string) json.RawMessage {
	switch name {
	case "json_schema_2020_12_tool":
		return json.RawMessage(rich)
	case "test_x_mcp_header":
		return json.RawMessage(`{"type":"object","properties":{
			"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`)
	}
	return json.RawMessage(nothing)
}

// rich has the words of JSON Schema 2020-12 that must reach the client as they are.
const rich = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"phone":{"type":"string"},"email":{"type":"string"},
"contactMethod":{"type":"string","enum":["phone","email"]}},
"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}`

// say is a result of text.
func say(text string) *mcp.CallToolResult { return &mcp.CallToolResult{Content: words(text)} }

func words(text string) []mcp.Content { return []mcp.Content{&mcp.TextContent{Text: text}} }

// A red picture of one dot, and no sound at all.
var (
	picture = decoded("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC")
	silence = []byte("RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x00\x00\x00\x00")
)

func decoded(text string) []byte {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return b
}

// argument is a string among the arguments of a call, or "".
func argument(req *mcp.CallToolRequest, name string) string {
	var all map[string]any
	if json.Unmarshal(req.Params.Arguments, &all) != nil {
		return ""
	}
	text, ok := all[name].(string)
	if !ok {
		return ""
	}
	return text
}
