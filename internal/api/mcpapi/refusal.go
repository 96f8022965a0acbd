package mcpapi

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
)

// callable are the server's hints as calls of tools, where what they say is no tool of an agent's.
var callable = map[string]string{
	"/openapi.json describes what this call takes":                          "the tool's input schema says what it takes",
	"list the channels to see which there are":                              "name receivers with to or capability instead (join shows them); who has the command line makes a channel: trapeze channel create NAME",
	"list agents to see who there is":                                       "join shows who there is",
	"list the agents to see who there is":                                   "join shows who there is",
	"list the agents to see who is registered":                              "join shows who is registered",
	"list the conversations that you have a part in":                        "take over a task that carries it, or begin another with say",
	"register an agent that has it":                                         "join shows what agents can do; name one with to, or ask people with to=human:operators",
	"ask for fewer capabilities, or register an agent that has them all":    "join shows what agents can do; name one with to, or ask people with to=human:operators",
	"give its owner fallbacks, or hand the task to somebody by name":        "ask to have it yourself (accept with takeover), or tell the person",
	"wait until somebody sees to it, or take it back by denying it":         "status with the ticket's id and wait shows the answer; decide with it and verdict=deny takes it back",
	"fetch the handoff and look at its stage":                               "status with the handoff's id shows how it stands",
	"ownership has moved since; fetch the task and look at owner and epoch": "ownership has moved since: status shows owner and epoch",
}

// refusal is an error as a model reads it: what sort, what happened, what to do next.
func refusal(ctx context.Context, err error) *mcp.CallToolResult {
	e := &client.Error{
		Code: client.Unavailable, Message: "the server cannot be reached now",
		Hint: "wait a little and call again, with the same key where you gave one; if it stays away, ask your user to look: trapeze doctor says what is wrong, and trapeze serve --background starts a server on this machine",
	}
	switch {
	case errors.As(err, &e):
	case ctx.Err() != nil:
		e = &client.Error{Code: client.Unknown, Message: "the call was cancelled while it waited", Hint: "whatever it changed is on record; call status to see it"}
	}
	text := fmt.Sprintf("%s: %s", e.Code, e.Message)
	if hint := firstOf(callable[e.Hint], e.Hint); hint != "" {
		text += "\nWhat to do: " + hint
	}
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}
