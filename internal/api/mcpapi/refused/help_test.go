package refused

import (
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/toolset"
	"github.com/trapezehq/trapeze/internal/domain/help"
)

func TestEveryCallIsOfAToolOrOfTheUser(t *testing.T) {
	for _, call := range help.Calls() {
		if _, ok := tools[call]; !ok {
			t.Errorf("what is %q over MCP?", call)
		}
	}
	if len(tools) != len(help.Calls()) {
		t.Errorf("%d calls over MCP, and there are %d", len(tools), len(help.Calls()))
	}
}

func TestAModelReadsAHintWithItsTools(t *testing.T) {
	short, err := toolset.New("trapeze_", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		hint  string
		helps []client.Help
		want  string
	}{
		{"wait", nil, "wait"},
		{"fetch the task to see", []client.Help{{Words: "fetch the task", Call: "task show", ID: "task_1"}}, "fetch the task (trapeze_status id=task_1) to see"},
		{"accept it first", []client.Help{{Words: "accept it", Call: "accept"}}, "accept it (trapeze_accept handoff=HANDOFF) first"},
		{"name an agent", []client.Help{{Words: "name an agent", Fields: map[string]string{"to": ""}}}, "name an agent (argument to)"},
		{
			"an operator can replay it",
			[]client.Help{{Words: "replay it", Call: "dead replay", ID: "task_1"}},
			"an operator can replay it (your user can run: trapeze dead replay task_1)",
		},
		{"use coder", []client.Help{{Call: "agent add", ID: "tester"}}, "use coder"},
		{"dance", []client.Help{{Words: "dance", Call: "dance"}}, "dance"}, // of a later server
	} {
		if got := (Call{Set: short}).hint(&client.Error{Hint: c.hint, Helps: c.helps}); got != c.want {
			t.Errorf("%q is %q, want %q", c.hint, got, c.want)
		}
	}
}

func TestAnUnansweredCallIsSaidToBeRepeatedWhereItWas(t *testing.T) {
	for _, repeated := range []bool{false, true} {
		said := Result(t.Context(), Call{Tool: "join", Repeated: repeated}, errors.New("connection refused"))
		if text := said.Content[0].(*mcp.TextContent).Text; !strings.HasPrefix(text, "unavailable: the server cannot be reached now") || strings.Contains(text, "was repeated") != repeated {
			t.Errorf("repeated %t: %s", repeated, text)
		}
	}
}
