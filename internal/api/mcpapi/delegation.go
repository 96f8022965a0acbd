package mcpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/taskext"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/toolset"
)

// delegation is a group of child tasks that were created together, and whose results the parent waits for.
type delegation struct {
	set    toolset.Set
	parent client.Task
	group  []client.Child
	first  client.Task // of the group; its id is empty until the task exists
}

// handleOf returns the handle of the children that a call has just created.
func (c *call) handleOf(ctx context.Context, r client.Receipt) (string, error) {
	t, err := c.Task(ctx, r.Task)
	if err != nil {
		return "", err
	}
	for _, k := range t.Children {
		if k.Task == r.Children[0] {
			return r.Task + ".g" + strconv.Itoa(k.Group), nil
		}
	}
	return "", &client.Error{Code: client.Unknown, Message: "the children of " + r.Task + " were not found", Hint: c.Say("call {status} with id=%s to see them", r.Task)}
}

func (r handles) delegation(ctx context.Context, id string) (w delegation, err error) {
	w.set = r.names(ctx)
	task, number, _ := strings.Cut(id, ".g")
	n, err := strconv.Atoi(number)
	if err != nil {
		return w, &client.Error{Code: client.NotFound, Message: "no handle"}
	}
	if w.parent, err = r.Task(ctx, task); err != nil {
		return w, err
	}
	for _, k := range w.parent.Children {
		if k.Group == n {
			w.group = append(w.group, k)
		}
	}
	if len(w.group) == 0 {
		return w, &client.Error{Code: client.NotFound, Message: "no handle"}
	}
	if w.first, err = r.Task(ctx, w.group[0].Task); errors.Is(err, client.NotFound) {
		w.first, err = client.Task{State: client.Pending, Created: time.Now()}, nil
	}
	return w, err
}

// task converts a delegation to a task of the extension.
func (w delegation) task(id string, asks map[string]*mcp.ElicitParams) taskext.Task {
	t := taskext.Task{ID: id, Status: taskext.Working, Created: w.first.Created, Updated: w.updated(), Poll: poll}
	switch {
	case !w.over():
		t.Message, t.Questions = w.standing(), asks
		if len(asks) > 0 {
			t.Status = taskext.InputRequired
		}
	case w.calledOff():
		t.Status = taskext.Cancelled
	default:
		t.Status, t.Result = taskext.Completed, w.result()
	}
	return t
}

// over reports whether the parent no longer waits for this group: it has resumed, ended, asked a question, or created another group.
func (w delegation) over() bool {
	last := w.parent.Children[len(w.parent.Children)-1]
	asks := w.parent.Ticket != nil && w.parent.Ticket.Open()
	return w.parent.State != client.Waiting || asks || last.Group > w.group[0].Group
}

func (w delegation) calledOff() bool {
	for _, k := range w.group {
		if k.State != client.Cancelled {
			return w.parent.State == client.Cancelled
		}
	}
	return true
}

// standing describes in a few words what the parent waits for.
func (w delegation) standing() string {
	var waits []string
	for i, k := range w.group {
		who, state, note := k.To, k.State, k.Why
		if i == 0 {
			who, state = cmp.Or(w.first.Owner, k.To, "nobody yet"), w.first.State
			note = cmp.Or(show.TaskOf(w.first).Parked, w.first.Progress)
		}
		if note != "" {
			note = ": " + show.Line(show.Clip(note, 200))
		}
		if state == client.Parked {
			note += "; " + tool.Without(w.set, w.parent, k.Task)
		}
		waits = append(waits, who+" ("+strings.ReplaceAll(string(state), "_", " ")+note+")")
	}
	return "waiting for " + strings.Join(waits, ", ")
}

// asks returns the ticket of the first child, if it has one.
func (w delegation) asks() client.Ticket {
	if w.first.Ticket == nil {
		return client.Ticket{}
	}
	return client.Ticket{ID: w.first.Ticket.ID, Intent: w.first.Intent, TicketDoc: w.first.Ticket.TicketDoc}
}

// updated is the time of the last known change.
func (w delegation) updated() time.Time {
	at := w.first.Created
	times := []time.Time{w.first.Ended, w.parent.Ended}
	if h := w.first.Handoff; h != nil {
		times = append(times, h.Requested, h.Ended)
	}
	for _, t := range times {
		if t.After(at) {
			at = t
		}
	}
	return at
}

// result is what send would have answered if it had waited.
func (w delegation) result() *mcp.CallToolResult {
	var b strings.Builder
	done := 0
	var results []show.Child
	for _, k := range w.group {
		line := show.ChildOf(k)
		if k.State == client.Completed {
			done++
		}
		results = append(results, line)
		fmt.Fprintf(&b, "\n%s: task %s is %s\n%s", cmp.Or(k.To, "nobody"), k.Task, strings.ReplaceAll(string(k.State), "_", " "), show.Quoted(line.Said()))
	}
	next := w.set.Text("{status} with this task shows why")
	switch {
	case w.parent.State == client.Executing:
		next = w.set.Text("continue task %s: call {complete|send|escalate}", w.parent.ID)
	case w.parent.State == client.Completed:
		next = ""
	case w.parent.Parked != nil:
		fmt.Fprintf(&b, "\nIt is in the dead letters: %s, %s", w.parent.Parked.Cause, show.Line(w.parent.Parked.Detail))
	}
	of := client.Receipt{Task: w.parent.ID, State: w.parent.State, Owner: w.parent.Owner, Epoch: w.parent.Epoch}
	return &mcp.CallToolResult{
		IsError:           done == 0,
		Content:           []mcp.Content{&mcp.TextContent{Text: tool.Told(of, fmt.Sprintf("%d of %d results have arrived.", done, len(results)), next).Text + b.String()}},
		StructuredContent: sentAnswer{tool.ReceiptOf(of, next), results},
	}
}
