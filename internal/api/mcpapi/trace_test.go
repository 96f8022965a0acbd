package mcpapi_test

import (
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
)

func TestTheTraceContextOfAToolCallReachesTheReceiver(t *testing.T) {
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		coder := h.agent(version, "coder")
		reviewer := h.as(h.token("reviewer"))
		for _, c := range []struct {
			meta                  mcp.Meta
			wantParent, wantState string
		}{
			{mcp.Meta{"traceparent": trace, "tracestate": "a=1"}, trace, "a=1"},
			{mcp.Meta{"traceparent": "malformed"}, "", ""},
			{mcp.Meta{"traceparent": 7}, "", ""},
			{nil, "", ""},
		} {
			r, err := coder.CallTool(t.Context(), &mcp.CallToolParams{Meta: c.meta, Name: "send", Arguments: m{"intent": "Review", "to": "reviewer"}})
			if err != nil || r.IsError {
				t.Fatalf("%v: %+v, %v", c.meta, r, err)
			}
			data, _ := r.StructuredContent.(map[string]any)
			handoff, _ := data["handoff"].(string)
			s, err := reviewer.Content(t.Context(), handoff, client.ContentInput{})
			if err != nil {
				t.Fatal(err)
			}
			var doc struct {
				Trace struct{ Traceparent, Tracestate string }
			}
			if err := json.Unmarshal(s.Envelope, &doc); err != nil || doc.Trace.Traceparent != c.wantParent || doc.Trace.Tracestate != c.wantState {
				t.Errorf("%v: the receiver gets %+v, %v", c.meta, doc.Trace, err)
			}
		}
	})
}
