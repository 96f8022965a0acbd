package refused

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
)

// callable maps hints of the server that an agent cannot follow over MCP to hints that name tools.
var callable = map[string]string{
	"/openapi.json describes what this call takes":                       "see the input schema of the tool",
	"list the channels to see which there are":                           "name receivers with to or capability instead ({join} lists them); a user creates a channel with: trapeze channel create NAME",
	"look at its content again, and approve by the digest that this has": "{status} with the id of the handoff shows its content; {decide} it again",
	"check your inbox":                                                              "{inbox} lists what waits for you",
	"check your inbox for what is open":                                             "{inbox} lists what waits for you",
	"nothing to do; your inbox lists the open offers":                               "nothing to do; {inbox} lists the open offers",
	"wait until it is in your inbox":                                                "{inbox} with wait=45 shows the offer when it is made",
	"wait until the sender confirms: the task shows it, and then who owns it":       "wait until the sender confirms: {status} with the id of the task and wait=45 shows it, and then who owns it",
	"accept the offer first":                                                        "{accept} the offer first",
	"list the dead letters to see which tasks are":                                  "{status} with its id shows the state of a task; the dead letters are listed in a shell: trapeze dead list",
	"fetch the task to see its ticket":                                              "{status} with the id of the task shows its ticket",
	"fetch the task to see its constraints":                                         "{status} with the id of the task shows its constraints",
	"fetch the task to see its takeover requests":                                   "{status} with the id of the task shows the requests to take it over",
	"nothing is left to decide; fetch the task to see its handoffs":                 "nothing is left to decide; {status} with the id of the task shows its handoff",
	"search for items that you may read":                                            "{recall} finds the items that you may read",
	"search for items that you may read; name the task whose envelope refers to it": "{recall} finds the items that you may read; one that an envelope refers to is read with the id of its task",
	"check the id; list tasks to see those you may see":                             "check the id; {status} without an id lists your tasks",
	"check the id; list tasks to see those you have a part in":                      "check the id; {status} without an id lists your tasks",
	"check the id: a task shows its ticket, and an inbox what was asked of you":     "check the id: {status} with the id of a task shows its ticket, and {inbox} what was asked of you",
	"fetch the newest, or export the trail for what went before":                    "{status} with the id of the task shows the newest; with history=true, what went before",
	"look at the trail of the task for its entries":                                 "{status} with the id of the task and history=true shows its entries",
	"list agents to see who there is":                                               "{join} lists the agents",
	"list the agents to see who is registered":                                      "{join} lists the registered agents",
	"list the conversations that you have a part in":                                "take over a task that includes it, or start another conversation with say",
	"register an agent that has it":                                                 "{join} lists the capabilities of agents; name an agent with to, or hand it to people with to=human:operators",
	"ask for fewer capabilities, or register an agent that has them all":            "{join} lists the capabilities of agents; name an agent with to, or hand it to people with to=human:operators",
	"give its owner fallbacks, or hand the task to somebody by name":                "request it yourself ({accept} with takeover), or tell the user",
	"wait until somebody handles it, or withdraw it by denying it":                  "{status} with the id of the ticket and wait shows the answer; {decide} with the id and verdict=deny withdraws it",
	"a handoff is accepted, rejected, confirmed, approved, denied or withdrawn by its id; the id of its task is the part before the dot": "{accept}, {reject}, {decide} and {cancel} take the id of a handoff; the id of its task is the part before the dot",
	"a takeover request is approved or denied by its id; the id of its task is the part before the dot":                                  "{decide} takes the id of a takeover request, with verdict=approve or deny; the id of its task is the part before the dot",
	"the context of a shared envelope is read by its id; the id of its task is the part before the dot":                                  "{status} with the id of a shared envelope reads its context; the id of its task is the part before the dot",
	"a ticket is answered, approved, denied, claimed or released by its id; the id of its task is the part before the dot":               "{decide} takes the id of a ticket, with verdict=answer, approve, deny (withdraws your own question), claim or release; {status} shows the ticket; the id of its task is the part before the dot",
	"a notice needs no answer; the id of its task is the part before the dot":                                                            "a notice needs no answer: {status} shows its task, whose id is the part before the dot",
	"a memory item is read, revised, pinned or forgotten by its id":                                                                      "{recall} reads a memory item by its id, {remember} revises or forgets it",
	"fetch the task to see its handoffs":                                            "{status} with the id of the task shows its handoff",
	"fetch the handoff and look at its stage":                                       "{status} with the id of the handoff shows its stage",
	"fetch the context of the task and go on with it, under this epoch":             "{status} shows the task with its handoff; {accept} with that handoff gives its context again",
	"say under which epoch you act; fetch the task and look at its owner and epoch": "give the epoch under which you own the task: {status} shows owner and epoch",
	"ownership has changed since; fetch the task and look at its owner and epoch":   "ownership has changed since: {status} shows owner and epoch",
}

// forPeople finds hints that only people can follow: with commands of a shell, or rights that agents do not have.
var forPeople = regexp.MustCompile(`\btrapeze [a-z]|\b(an|the) (operator|admin)`)

// Result is the refused call of a tool as a model reads it: the code, what is wrong, and what to do next.
func Result(ctx context.Context, c Call, err error) *mcp.CallToolResult {
	e := &client.Error{
		Code: client.Unavailable, Message: "the server cannot be reached now",
		Hint: "wait a moment and call again, with the same key if you gave one; if it stays unreachable, ask your user to run trapeze doctor, which reports what is wrong, or trapeze serve --background, which starts a server on this machine",
	}
	switch {
	case errors.As(err, &e):
	case ctx.Err() != nil:
		e = &client.Error{Code: client.Unknown, Message: "the call was cancelled while it waited", Hint: c.Set.Text("what it changed is recorded; call {status} to see it")}
	}
	said, details := c.said(e)
	text, hint := fmt.Sprintf("%s: %s", e.Code, show.Further(said)), cmp.Or(c.Set.Text(callable[e.Hint]), e.Hint)
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
