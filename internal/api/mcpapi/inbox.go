package mcpapi

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/fit"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/liveness"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/toolset"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/transport"
)

type inboxInput struct {
	Wait  int             `json:"wait,omitempty" jsonschema:"seconds to wait for the first item, at most 50; use 45, or 8 if calls time out"`
	After argument.Cursor `json:"after,omitempty" jsonschema:"cursor of the previous answer: only newer items"`
	Limit int             `json:"limit,omitempty"`
}

type inbox struct {
	Items  []item `json:"items"`
	Cursor string `json:"cursor"`
	Next   string `json:"next"`
}

type item struct {
	Type     string    `json:"type"`
	ID       string    `json:"id"`
	Task     string    `json:"task"`
	From     string    `json:"from"`
	Kind     string    `json:"kind,omitempty"`
	Priority string    `json:"priority"`
	Reason   string    `json:"reason,omitempty"`
	Detail   string    `json:"detail,omitempty"`
	Intent   string    `json:"intent"`
	Envelope string    `json:"envelope,omitempty"`
	Ends     time.Time `json:"ends,omitzero"`
	Do       string    `json:"do,omitempty"` // the tool that answers it, or what else to do
}

// maxWait is the longest wait of a call in seconds: less than the 60 s after which common clients time out.
const maxWait = 50

var inboxTool = define[inboxInput, inbox]("inbox", "Read your inbox", tool.Repeats,
	"Read your inbox, most urgent first: offers to accept or reject, requests for your decision ({decide}), tasks that you own again. Waits up to wait seconds. Reading an offer starts its timeout: accept or reject it at once.",
	func(ctx context.Context, c *call, in inboxInput) (answer, error) {
		if in.Wait < 0 || in.Wait > maxWait {
			return answer{}, invalid("wait is %d; use 0 to %d seconds and call again if nothing arrived", in.Wait, maxWait)
		}
		defer c.Alive(ctx, "waiting for the inbox")()
		ctx, leave := c.Waits.Park(ctx, in.Wait, func(ctx context.Context, wait time.Duration) error {
			_, err := c.Inbox(ctx, client.InboxOptions{Wait: wait, After: string(in.After)})
			return err
		})
		defer leave()
		return fit.Inbox(ctx, c.Client, client.InboxOptions{See: true, Limit: in.Limit, After: string(in.After)}, func(o client.InboxOptions) (client.Inbox, error) {
			return liveness.WaitThroughRestart(ctx, c.Waits, in.Wait, func(ctx context.Context, wait time.Duration) (client.Inbox, error) {
				o.Wait = wait
				return c.Inbox(ctx, o)
			})
		}, func(box client.Inbox) answer { return c.inbox(box, in.Wait) })
	})

// waits returns what a call of the tool waits for, if it is one.
func waits(p *mcp.CallToolParamsRaw, set toolset.Set) (transport.Wait, bool) {
	if name, ok := set.Own(p.Name); !ok || name != inboxTool.Name() {
		return transport.Wait{}, false
	}
	in, err := argument.Decode[inboxInput](p.Name, p.Arguments, set.Full(), argument.Server{})
	path := fmt.Sprintf("/v1/inbox?wait=%ds&after=%s", in.Wait, url.QueryEscape(string(in.After)))
	return transport.Wait{Path: path, Most: time.Duration(in.Wait) * time.Second}, err == nil && in.Wait > 0 && in.Wait <= maxWait
}

// inbox answers with the items of an inbox.
func (c *call) inbox(box client.Inbox, waited int) answer {
	out := inbox{Items: []item{}, Cursor: box.Cursor}
	for _, i := range box.Items {
		out.Items = append(out.Items, item{
			i.Type, i.ID, i.Task, i.From, string(i.Kind), string(i.Priority), string(i.Reason), i.Detail, i.Intent, i.Envelope, i.Ends, c.Set.Text(todo(i)),
		})
	}
	return answer{Text: out.write(c.Set, waited), Data: out}
}

// doing names the tool that answers each type of item.
var doing = map[string]string{
	"offer": "{accept} or {reject}", "approval": "{decide}: approve or deny", "confirm": "{decide}: confirm", "takeover": "{decide}: approve or deny", "share": "{status} with its id reads it",
	"question": "{decide}: answer",
	"stranded": "{status} with its task shows what you can do; only an operator can replay it: ask the user to run trapeze dead replay TASK", "returned": "nobody took the task: {send} with its task hands it to another agent, {cancel} ends it", "resumed": "you own the task: {status} shows its state, {accept} with its task gives its context again; continue it",
	"completed": "{status} with its task shows the result", "failed": "{status} with its task shows how far it got; to try again, send the work as another task",
	"cancelled": "the task is over: {status} with its task shows how; this item is not shown again", "taken": "do not start on the task: {status} with it shows who has it; this item is not shown again",
	"parked": "it is in the dead letters; only an operator can replay it: ask the user to run trapeze dead replay TASK, or {cancel} it",
}

// todo is what an item asks the reader to do.
func todo(i client.Item) string {
	if i.Notice() && i.Epoch != 0 {
		return "stop working on this task: nothing that you do to it counts any more. {status} with its task shows what became of it; this item is not shown again"
	}
	return doing[i.Type]
}

func (b *inbox) write(set toolset.Set, waited int) string {
	if len(b.Items) == 0 {
		b.Next = set.Text("your inbox is empty. To wait for work, call {inbox} again with wait=%d, after=%s", tool.WaitAgain(waited), argument.Cursor(b.Cursor).Plain())
		return fmt.Sprintf("Your inbox is empty (waited %d s).\nNext: %s", waited, strings.TrimPrefix(b.Next, "your inbox is empty. "))
	}
	more := set.Text("; then {inbox} with wait=%d, after=%s for more", tool.WaitAgain(waited), argument.Cursor(b.Cursor).Plain())
	b.Next = "answer each item as its do says" + more
	next := "answer each item with the tool in brackets" + more
	var s strings.Builder
	for _, i := range b.Items {
		if i.Type == "offer" {
			b.Next = set.Text("{accept} the offers you can do, {reject} the others") + more
			next = b.Next
		}
		fmt.Fprintf(&s, "- %s %s from %s, %s, task %s [%s]: %s", i.Type, i.ID, i.From, i.Priority, i.Task, i.Do, show.Line(i.Intent))
		if i.Detail != "" {
			s.WriteString(" (" + show.Line(i.Detail) + ")")
		}
		if !i.Ends.IsZero() {
			s.WriteString(", answer by " + i.Ends.UTC().Format(time.RFC3339))
		}
		s.WriteString("\n")
	}
	return s.String() + "Next: " + next
}
