//nolint:staticcheck // the suite asks for what is deprecated too: roots, sampling, logging
package mcptest

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// askers are the tools that ask the client something before they answer. Where the client's protocol has no round trips,
// the SDK asks it during the call.
var askers = map[string]handler{
	"test_elicitation": func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return form(req, argument(req, "message"), `{"username":{"type":"string","description":"User's response"}}`, "username"), nil
	},
	"test_elicitation_sep1034_defaults": func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return form(req, "Look through these.", defaults), nil
	},
	"test_elicitation_sep1330_enums": func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return form(req, "Choose.", choices), nil
	},
	"test_sampling": func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if text, ok := sampled(req, "words"); ok {
			return say("LLM response: " + text), nil
		}
		return ask(mcp.InputRequestMap{"words": sample(argument(req, "prompt"))}, ""), nil
	},
	"test_input_required_result_elicitation": func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if name := filled(req, "user_name", "name"); name != "" {
			return say("Hello, " + name + "!"), nil
		}
		return ask(mcp.InputRequestMap{"user_name": askName()}, ""), nil
	},
	"test_input_required_result_sampling": func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if text, ok := sampled(req, "capital_question"); ok {
			return say("The model says: " + text), nil
		}
		return ask(mcp.InputRequestMap{"capital_question": sample("What is the capital of France?")}, ""), nil
	},
	"test_input_required_result_list_roots": func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if n, ok := roots(req); ok {
			return say(fmt.Sprintf("The client has %d roots.", n)), nil
		}
		return ask(mcp.InputRequestMap{"client_roots": &mcp.ListRootsParams{}}, ""), nil
	},
	"test_input_required_result_request_state":  confirmed,
	"test_input_required_result_tampered_state": confirmed,
	"test_input_required_result_multiple_inputs": func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		name := filled(req, "user_name", "name")
		greeting, greeted := sampled(req, "greeting")
		n, rooted := roots(req)
		if name != "" && greeted && rooted {
			return say(fmt.Sprintf("%s %s, with %d roots", greeting, name, n)), nil
		}
		all := mcp.InputRequestMap{"user_name": askName(), "greeting": sample("Greet somebody."), "client_roots": &mcp.ListRootsParams{}}
		return ask(all, sealed("all")), nil
	},
	"test_input_required_result_multi_round": func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if req.Params.RequestState == "" {
			return ask(mcp.InputRequestMap{"step1": askName()}, sealed("1")), nil
		}
		state, err := opened(req.Params.RequestState)
		if err != nil {
			return nil, err
		}
		if state == "1" {
			color := elicit("Your favourite colour?", `{"color":{"type":"string"}}`, "color")
			return ask(mcp.InputRequestMap{"step2": color}, sealed("2 "+filled(req, "step1", "name"))), nil
		}
		return say(strings.TrimPrefix(state, "2 ") + " likes " + filled(req, "step2", "color")), nil
	},
	"test_input_required_result_capabilities": func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if len(req.Params.InputResponses) > 0 {
			return say("Everything was answered."), nil
		}
		all := mcp.InputRequestMap{}
		if can := req.ClientCapabilities(); can != nil {
			if can.Elicitation != nil {
				all["user_name"] = askName()
			}
			if can.Sampling != nil {
				all["greeting"] = sample("Greet somebody.")
			}
		}
		if len(all) == 0 {
			return say("The client cannot be asked anything."), nil
		}
		return ask(all, ""), nil
	},
}

func confirmed(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req.Params.RequestState != "" {
		if _, err := opened(req.Params.RequestState); err != nil {
			return nil, err
		}
		if r, ok := req.Params.InputResponses["confirm"].(*mcp.ElicitResult); ok && r.Action == "accept" {
			return say("state-ok: it came back as it was"), nil
		}
	}
	return ask(mcp.InputRequestMap{"confirm": elicit("Go on?", `{"ok":{"type":"boolean"}}`, "ok")}, sealed("confirm")), nil
}

// form asks for what a schema's properties say, and repeats the answer.
func form(req *mcp.CallToolRequest, text, properties string, required ...string) *mcp.CallToolResult {
	if r, ok := req.Params.InputResponses["form"].(*mcp.ElicitResult); ok {
		return say(fmt.Sprintf("Elicitation completed: action=%s, content=%v", r.Action, r.Content))
	}
	return ask(mcp.InputRequestMap{"form": elicit(text, properties, required...)}, "")
}

// ask is a result that asks the client first.
func ask(all mcp.InputRequestMap, state string) *mcp.CallToolResult {
	return &mcp.CallToolResult{InputRequests: all, RequestState: state}
}

// filled is a text in the form that the user has accepted, or "".
func filled(req *mcp.CallToolRequest, key, field string) string {
	r, ok := req.Params.InputResponses[key].(*mcp.ElicitResult)
	if !ok || r.Action != "accept" {
		return ""
	}
	text, ok := r.Content[field].(string)
	if !ok {
		return ""
	}
	return text
}

func sample(text string) mcp.InputRequest {
	return &mcp.CreateMessageParams{MaxTokens: 100, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}}
}

func sampled(req *mcp.CallToolRequest, key string) (string, bool) {
	r, ok := req.Params.InputResponses[key].(*mcp.CreateMessageWithToolsResult)
	if !ok || len(r.Content) == 0 {
		return "", false
	}
	text, ok := r.Content[0].(*mcp.TextContent)
	if !ok {
		return "", false
	}
	return text.Text, true
}

func roots(req *mcp.CallToolRequest) (int, bool) {
	r, ok := req.Params.InputResponses["client_roots"].(*mcp.ListRootsResult)
	if !ok {
		return 0, false
	}
	return len(r.Roots), true
}

// seal is the key of what the client carries for the server.
var seal = func() []byte { return []byte(rand.Text()) }()

func sealed(state string) string { return state + "." + mac(state) }

func opened(text string) (string, error) {
	i := strings.LastIndexByte(text, '.')
	if i < 0 || !hmac.Equal([]byte(mac(text[:i])), []byte(text[i+1:])) {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState is not what the server gave"}
	}
	return text[:i], nil
}

func mac(state string) string {
	h := hmac.New(sha256.New, seal)
	h.Write([]byte(state))
	return hex.EncodeToString(h.Sum(nil))
}
