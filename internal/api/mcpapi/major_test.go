package mcpapi_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/usecase"
)

// before is a made-up major before ours, which called the facts "news".
var before = envelope.Conversion{
	Older: 0,
	Up: func(doc map[string]any) ([]string, error) {
		doc["version"], doc["key_facts"] = "1.0", doc["news"]
		delete(doc, "news")
		return nil, nil
	},
	Down: func(doc map[string]any) ([]string, error) {
		doc["version"], doc["news"] = "0.9", doc["key_facts"]
		delete(doc, "key_facts")
		return nil, nil
	},
}

// During a migration an agent over MCP reads what came in the other major, and what it sends is read in that.
func TestADocumentOfAnotherMajorIsReadAndHandedOnOverMCP(t *testing.T) {
	majors, err := envelope.NewConverter(before)
	if err != nil {
		t.Fatal(err)
	}
	h := openWith(t, usecase.Options{Majors: majors}, httpapi.Resource{})
	coder, reviewer := h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "reviewer")
	coder.call("join", m{})
	reviewer.call("join", m{})
	doc := []byte(`{"version":"0.9","handoff":{"task_id":"t","from":"elsewhere","to":["coder"],"reason":"user_request","kind":"warm"},` +
		`"priority":"normal","task":{"intent":"Review the parser"},"news":[{"id":"f1","text":"It drops blanks."}]}`)
	in, err := h.admin.ImportTask(t.Context(), client.ImportInput{Document: doc, To: []string{"coder"}})
	if err != nil {
		t.Fatal(err)
	}
	if prompt := coder.read("accept", m{"handoff": in.Handoff}); !strings.Contains(prompt, "Review the parser") || !strings.Contains(prompt, "f1 It drops blanks.") {
		t.Errorf("coder reads\n%s", prompt)
	}
	_, sent := coder.call("send", m{"task": in.Task, "to": "reviewer", "facts": "It keeps tabs."})
	if prompt := reviewer.read("accept", m{"handoff": sent["handoff"]}); !strings.Contains(prompt, "It drops blanks.") || !strings.Contains(prompt, "It keeps tabs.") {
		t.Errorf("reviewer reads\n%s", prompt)
	}
	got, err := h.admin.Content(t.Context(), in.Task, client.ContentInput{Majors: []int{0}})
	if err != nil || len(got.Copies) != 1 || !bytes.Contains(got.Copies[0].Envelope, []byte(`"news":[`)) || !bytes.Contains(got.Copies[0].Envelope, []byte("It keeps tabs.")) {
		t.Errorf("in the older major: %+v, %v", got.Copies, err)
	}
}
