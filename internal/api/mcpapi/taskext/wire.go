package taskext

import (
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// brief is a task in the response to the call that started it.
type brief struct {
	ID      string    `json:"taskId"`
	Status  Status    `json:"status"`
	Message string    `json:"statusMessage,omitempty"`
	Created time.Time `json:"createdAt"`
	Updated time.Time `json:"lastUpdatedAt"`
	TTL     *int64    `json:"ttlMs"` // null means unlimited
	Poll    int64     `json:"pollIntervalMs,omitempty"`
}

// detail is what the response to tasks/get has in addition to brief.
type detail struct {
	Questions mcp.InputRequestMap `json:"inputRequests,omitempty"`
	Result    *outcome            `json:"result,omitempty"`
	Err       *jsonrpc.Error      `json:"error,omitempty"`
}

// outcome is a result as the call would have returned it, with the result type "complete", which the SDK sets only when it answers a call.
type outcome struct {
	ResultType        string        `json:"resultType"`
	Meta              mcp.Meta      `json:"_meta,omitempty"`
	Content           []mcp.Content `json:"content"`
	StructuredContent any           `json:"structuredContent,omitempty"`
	IsError           bool          `json:"isError,omitempty"`
}

func outcomeOf(r *mcp.CallToolResult) *outcome {
	if r == nil {
		return nil
	}
	return &outcome{"complete", r.Meta, append([]mcp.Content{}, r.Content...), r.StructuredContent, r.IsError}
}

// whole is a task with its details.
type whole struct {
	brief
	detail
}

// state is a response with a task.
type state struct {
	mcp.ResultBase
	ResultType string `json:"resultType"`
	brief
	detail
}

// done is a response without content.
type done struct {
	mcp.ResultBase
	ResultType string `json:"resultType"`
}

func briefOf(t Task) brief {
	b := brief{
		ID: t.ID, Status: t.Status, Message: t.Message, Poll: t.Poll.Milliseconds(),
		Created: t.Created.UTC().Truncate(time.Millisecond), Updated: t.Updated.UTC().Truncate(time.Millisecond),
	}
	if ms := t.TTL.Milliseconds(); ms > 0 {
		b.TTL = &ms
	}
	return b
}

// detailOf returns a task for a client with some capabilities. A client that cannot ask its user gets no questions, and the status
// "working" instead of "input_required".
func detailOf(t Task, can *mcp.ClientCapabilities) (whole, error) {
	w := whole{brief: briefOf(t)}
	switch t.Status {
	case Working, Cancelled:
	case InputRequired:
		if can != nil && can.Elicitation != nil {
			w.Questions = make(mcp.InputRequestMap, len(t.Questions))
			for key, q := range t.Questions {
				w.Questions[key] = q
			}
		}
		if len(w.Questions) == 0 {
			w.Status = Working
		}
	case Completed:
		w.Result = outcomeOf(t.Result)
	case Failed:
		w.Err = t.Err
	}
	if t.Status == Completed && t.Result == nil || t.Status == Failed && t.Err == nil {
		return whole{}, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the task has ended without a result"}
	}
	return w, nil
}

// named are the parameters of a method that takes only a task id.
type named struct {
	mcp.ParamsBase
	TaskID string `json:"taskId"`
}

// updateParams are the parameters of tasks/update. The responses are decoded when the questions are known.
type updateParams struct {
	mcp.ParamsBase
	TaskID    string                     `json:"taskId"`
	Responses map[string]json.RawMessage `json:"inputResponses"`
}

// missing reports whether a request of the extension has no parameters. The SDK does not refuse it, and its accessors would panic.
func missing(p mcp.Params) bool {
	switch p := p.(type) {
	case *named:
		return p == nil
	case *updateParams:
		return p == nil
	}
	return p == nil
}

// answers decodes the responses to the open questions of a task. Other responses are ignored: their questions may have been answered
// meanwhile.
func (p *updateParams) answers(t Task) (map[string]*mcp.ElicitResult, error) {
	if p.Responses == nil {
		return nil, invalid("inputResponses is missing: an object with one response for each key of inputRequests that you can answer")
	}
	out := map[string]*mcp.ElicitResult{}
	if t.Status != InputRequired {
		return out, nil
	}
	for key := range t.Questions {
		raw, ok := p.Responses[key]
		if !ok {
			continue
		}
		var r mcp.ElicitResult
		if err := json.Unmarshal(raw, &r); err != nil {
			return nil, invalid("inputResponses[%q] is not an elicitation response: use an object with action and content", key)
		}
		switch r.Action {
		case "accept", "decline", "cancel":
		default:
			return nil, invalid("inputResponses[%q].action must be accept, decline or cancel", key)
		}
		out[key] = &r
	}
	return out, nil
}
