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
