package mcpapi_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// shown is everything of a result that any client may show its model: texts, and structured content as JSON.
func shown(t testing.TB, r *mcp.CallToolResult) string {
	t.Helper()
	var b strings.Builder
	for _, c := range r.Content {
		text, is := c.(*mcp.TextContent)
		if !is {
			t.Fatalf("a %T in the result", c)
		}
		b.WriteString(text.Text)
	}
	if r.StructuredContent != nil {
		raw, err := json.Marshal(r.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(raw)
	}
	return b.String()
}

// read calls a tool whose answer is to be read.
func (a *agent) read(tool string, args m) string {
	a.t.Helper()
	r, err := a.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil || r.IsError {
		a.t.Fatalf("%s: %v %s", tool, err, shown(a.t, r))
	}
	if r.StructuredContent != nil || len(r.Content) != 1 {
		a.t.Errorf("%s answers with %d contents and the data %v", tool, len(r.Content), r.StructuredContent)
	}
	return shown(a.t, r)
}

func TestWhatIsToBeReadIsTextAlone(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		coder, reviewer, auditor := h.agent(version, "coder"), h.agent(version, "reviewer"), h.agent(version, "reader")
		for _, a := range []*agent{reviewer, auditor} {
			a.call("join", m{})
		}
		_, sent := coder.call("send", m{"intent": "Review the parser\nand say \"what\" is wrong.", "to": "reviewer"})
		task, offer := sent["task"].(string), sent["handoff"].(string)
		first := reviewer.read("accept", m{"handoff": offer})
		again := reviewer.read("accept", m{"handoff": offer})
		lines := strings.Split(first, "\n")
		if head := strings.Join(lines[:min(4, len(lines))], "\n"); !strings.Contains(head, "`"+task+"`") || !strings.Contains(head, "handoff `"+offer[len(task)+1:]+"`") {
			t.Errorf("the ids are not in the first lines:\n%s", head)
		}
		if !strings.Contains(first, "say \"what\" is wrong.") || first != again {
			t.Errorf("the first time:\n%s\nthe second:\n%s", first, again)
		}
		_, share := reviewer.call("send", m{"task": task, "to": "reader", "share_only": true})
		_, box := auditor.call("inbox", m{"wait": 5})
		items, _ := box["items"].([]any)
		if len(items) != 1 {
			t.Fatalf("the inbox has %v after %v", box, share)
		}
		text := auditor.read("status", m{"id": items[0].(m)["id"]})
		if head, _, _ := strings.Cut(text, "\n"); !strings.Contains(text, "Review the parser") || !strings.Contains(head, "own") {
			t.Errorf("what is shared:\n%s", text)
		}
		if text := reviewer.read("status", m{"id": task, "history": true}); !strings.Contains(text, "handoff-complete") {
			t.Errorf("the history:\n%s", text)
		}
	})
}

// readTools are the tools with answers that are there to be read.
var readTools = map[string]bool{"accept": true, "decide": true, "status": true}

func TestToolsWhoseAnswersAreToBeReadDeclareNoOutput(t *testing.T) {
	list, err := open(t).agent(statelessVersion, "reader").ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range list.Tools {
		if (x.OutputSchema == nil) != readTools[x.Name] {
			t.Errorf("%s has the output schema %v", x.Name, x.OutputSchema)
		}
	}
}
