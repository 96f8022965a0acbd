package refused

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
)

// forPeople finds hints that only people can follow: with commands of a shell, or rights that agents do not have.
var forPeople = regexp.MustCompile(`\btrapeze [a-z]|\b(an|the) (operator|admin)`)

// Result is the refused call of a tool as a model reads it: the code, what is wrong, and what to do next.
func Result(ctx context.Context, c Call, err error) *mcp.CallToolResult {
	e := &client.Error{
		Code: client.Unavailable, Message: "the server cannot be reached now",
		Hint: "wait a moment and call again, with the same key if you gave one; if it stays unreachable, ask your user to run trapeze doctor, which reports what is wrong, or trapeze serve --background, which starts a server on this machine",
	}
	if c.Repeated {
		e.Message += "; the call was repeated for as long as a restart takes"
	}
	switch {
	case errors.As(err, &e):
	case ctx.Err() != nil:
		e = &client.Error{Code: client.Unknown, Message: "the call was cancelled while it waited", Hint: c.Set.Text("what it changed is recorded; call {status} to see it")}
	}
	said, details := c.said(e)
	text, hint := fmt.Sprintf("%s: %s", e.Code, show.Further(said)), c.hint(e)
	if hint == "" && e.Code == client.Invalid {
		hint = "correct what is named, and call " + c.Set.Name(c.Tool) + " again"
	}
	if forPeople.MatchString(hint) && !strings.Contains(hint, "user") {
		hint += "; you cannot do this yourself: ask your user"
	}
	if hint != "" {
		text += "\nWhat to do: " + show.OneLine(hint)
	}
	return &mcp.CallToolResult{
		IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: call{e.Code, said, hint, details},
	}
}

// call is a refused call for programs. The output schemas of all tools allow it, see package argument.
type call struct {
	Code    client.Code    `json:"code"`
	Message string         `json:"message"`
	Hint    string         `json:"hint,omitempty"`
	Details map[string]any `json:"details,omitempty"`
}
