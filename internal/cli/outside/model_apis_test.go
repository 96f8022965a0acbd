//go:build outside

package outside

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// textOf is the text of a content as the model reads it: a string, or a list of parts with texts.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct{ Text string }
	if json.Unmarshal(raw, &parts) != nil {
		return string(raw)
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Text
	}
	return strings.Join(texts, "\n")
}

// readResponses reads a request of the Responses API (platform.openai.com/docs/api-reference/responses).
func readResponses(body []byte) (s shown, err error) {
	var in struct {
		Stream bool
		Input  []struct {
			Type, Role      string
			Content, Output json.RawMessage
		}
		Tools []struct {
			Type, Name string
			Tools      []struct{ Name string }
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return s, err
	}
	s.stream = in.Stream
	for _, t := range in.Tools {
		if t.Type != "namespace" {
			s.tools = append(s.tools, tool{name: t.Name})
		}
		for _, each := range t.Tools {
			s.tools = append(s.tools, tool{space: t.Name, name: each.Name})
		}
	}
	for _, item := range in.Input {
		switch {
		case item.Type == "function_call_output":
			s.results = append(s.results, textOf(item.Output))
		case item.Role == "user":
			s.users = append(s.users, textOf(item.Content))
		}
	}
	return s, nil
}

func writeResponses(w http.ResponseWriter, _ *http.Request, n int, do call) {
	item := obj{"type": "message", "role": "assistant", "status": "completed", "id": fmt.Sprintf("msg_%d", n), "content": []obj{
		{"type": "output_text", "text": do.say, "annotations": []obj{}},
	}}
	if do.say == "" {
		item = obj{"type": "function_call", "id": fmt.Sprintf("fc_%d", n), "call_id": fmt.Sprintf("call_%d", n), "name": do.tool.name, "arguments": do.args}
		if do.tool.space != "" {
			item["namespace"] = do.tool.space
		}
	}
	id := fmt.Sprintf("resp_%d", n)
	usage := obj{
		"input_tokens": 1, "input_tokens_details": obj{"cached_tokens": 0},
		"output_tokens": 1, "output_tokens_details": obj{"reasoning_tokens": 0}, "total_tokens": 2,
	}
	if !do.stream {
		whole(w, obj{
			"id": id, "object": "response", "created_at": 1, "model": "scripted", "status": "completed", "output": []obj{item}, "usage": usage,
			"parallel_tool_calls": false, "tool_choice": "auto", "tools": []obj{},
		})
		return
	}
	stream(w,
		obj{"type": "response.created", "response": obj{"id": id}},
		obj{"type": "response.output_item.done", "output_index": 0, "item": item},
		obj{"type": "response.completed", "response": obj{"id": id, "usage": usage}},
	)
}

// readChat reads a request of the chat completions API.
func readChat(body []byte) (s shown, err error) {
	var in struct {
		Stream   bool
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools []struct{ Function struct{ Name string } }
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return s, err
	}
	s.stream = in.Stream
	for _, t := range in.Tools {
		s.tools = append(s.tools, tool{name: t.Function.Name})
	}
	for _, m := range in.Messages {
		switch m.Role {
		case "user":
			s.users = append(s.users, textOf(m.Content))
		case "tool":
			s.results = append(s.results, textOf(m.Content))
		}
	}
	return s, nil
}

func writeChat(w http.ResponseWriter, _ *http.Request, n int, do call) {
	message, reason := obj{"role": "assistant", "content": do.say}, "stop"
	if do.say == "" {
		reason = "tool_calls"
		message = obj{"role": "assistant", "tool_calls": []obj{{
			"index": 0, "id": fmt.Sprintf("call_%d", n), "type": "function", "function": obj{"name": do.tool.name, "arguments": do.args},
		}}}
	}
	usage := obj{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
	answer := func(object, part string, content obj, reason any) obj {
		choice := obj{"index": 0, part: content, "finish_reason": reason}
		return obj{"id": fmt.Sprintf("chat_%d", n), "object": object, "created": 1, "model": "scripted", "choices": []obj{choice}}
	}
	if !do.stream {
		all := answer("chat.completion", "message", message, reason)
		all["usage"] = usage
		whole(w, all)
		return
	}
	end := answer("chat.completion.chunk", "delta", obj{}, reason)
	end["usage"] = usage
	stream(w, answer("chat.completion.chunk", "delta", message, nil), end, "[DONE]")
}

// readMessages reads a request of the Messages API (platform.claude.com/docs/en/api/messages).
func readMessages(body []byte) (s shown, err error) {
	var in struct {
		Stream   bool
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools []struct{ Name string }
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return s, err
	}
	s.stream = in.Stream
	for _, t := range in.Tools {
		s.tools = append(s.tools, tool{name: t.Name})
	}
	for _, m := range in.Messages {
		type block struct {
			Type, Text string
			Content    json.RawMessage
		}
		var blocks []block
		if json.Unmarshal(m.Content, &blocks) != nil { // it is a text
			blocks = []block{{Type: "text", Text: textOf(m.Content)}}
		}
		for _, b := range blocks {
			switch {
			case b.Type == "tool_result":
				s.results = append(s.results, textOf(b.Content))
			case b.Type == "text" && m.Role == "user":
				s.users = append(s.users, b.Text)
			}
		}
	}
	return s, nil
}

func writeMessages(w http.ResponseWriter, _ *http.Request, n int, do call) {
	block, reason := obj{"type": "text", "text": do.say}, "end_turn"
	empty, delta := obj{"type": "text", "text": ""}, obj{"type": "text_delta", "text": do.say}
	if do.say == "" {
		reason = "tool_use"
		id := fmt.Sprintf("toolu_%d", n)
		block = obj{"type": "tool_use", "id": id, "name": do.tool.name, "input": json.RawMessage(do.args)}
		empty, delta = obj{"type": "tool_use", "id": id, "name": do.tool.name, "input": obj{}}, obj{"type": "input_json_delta", "partial_json": do.args}
	}
	message := func(content []obj, reason any) obj {
		return obj{
			"id": fmt.Sprintf("msg_%d", n), "type": "message", "role": "assistant", "model": "scripted", "content": content,
			"stop_reason": reason, "stop_sequence": nil, "usage": obj{"input_tokens": 1, "output_tokens": 1},
		}
	}
	if !do.stream {
		whole(w, message([]obj{block}, reason))
		return
	}
	stream(w,
		obj{"type": "message_start", "message": message([]obj{}, nil)},
		obj{"type": "content_block_start", "index": 0, "content_block": empty},
		obj{"type": "content_block_delta", "index": 0, "delta": delta},
		obj{"type": "content_block_stop", "index": 0},
		obj{"type": "message_delta", "delta": obj{"stop_reason": reason, "stop_sequence": nil}, "usage": obj{"output_tokens": 1}},
		obj{"type": "message_stop"},
	)
}

// readGemini reads a request of the Gemini API (ai.google.dev/api/generate-content).
func readGemini(body []byte) (s shown, err error) {
	var in struct {
		Contents []struct {
			Role  string
			Parts []struct {
				Text             string
				FunctionResponse *struct {
					Response struct {
						Output, Error string
						Content       json.RawMessage // of a framework that shows the whole result
					}
				}
			}
		}
		Tools []struct {
			FunctionDeclarations []struct{ Name string }
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return s, err
	}
	for _, t := range in.Tools {
		for _, f := range t.FunctionDeclarations {
			s.tools = append(s.tools, tool{name: f.Name})
		}
	}
	for _, c := range in.Contents {
		for _, p := range c.Parts {
			switch {
			case p.FunctionResponse != nil:
				r := p.FunctionResponse.Response
				result := r.Output + r.Error
				if r.Content != nil {
					result = textOf(r.Content)
				}
				s.results = append(s.results, result)
			case c.Role == "user":
				s.users = append(s.users, p.Text)
			}
		}
	}
	return s, nil
}

func writeGemini(w http.ResponseWriter, r *http.Request, _ int, do call) {
	part := obj{"text": do.say}
	if do.say == "" {
		part = obj{"functionCall": obj{"name": do.tool.name, "args": json.RawMessage(do.args)}}
	}
	answer := obj{
		"candidates":    []obj{{"index": 0, "finishReason": "STOP", "content": obj{"role": "model", "parts": []obj{part}}}},
		"usageMetadata": obj{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	}
	switch _, method, _ := strings.Cut(r.PathValue("call"), ":"); method {
	case "streamGenerateContent":
		stream(w, answer)
	case "countTokens":
		whole(w, obj{"totalTokens": 1})
	default:
		whole(w, answer)
	}
}
