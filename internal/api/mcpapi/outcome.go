package mcpapi

import (
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tasks"
)

// operators is the desk of those who run the server.
const operators = "operators"

// sentAnswer is a receipt, and the results that a sender has waited for.
type sentAnswer struct {
	receipt
	Results []childNow `json:"results,omitempty"`
}

// task is the work as the holder of its handle sees it.
func (w work) task(id string, asks map[string]*mcp.ElicitParams) tasks.Task {
	t := tasks.Task{ID: id, Status: tasks.Working, Created: w.first.Created, Updated: w.updated(), Poll: poll}
	switch {
	case !w.over():
		t.Message, t.Questions = w.standing(), asks
		if len(asks) > 0 {
			t.Status = tasks.InputRequired
		}
	case w.calledOff():
		t.Status = tasks.Cancelled
	default:
		t.Status, t.Result = tasks.Completed, w.result()
	}
	return t
}

// over reports whether whoever waits has what it waited for, or will not get it. A parent has when it goes on.
func (w work) over() bool {
	last := w.parent.Children[len(w.parent.Children)-1]
	asks := w.parent.Ticket != nil && w.parent.Ticket.Open()
	return w.parent.State != client.Waiting || asks || last.Group > w.group[0].Group
}

func (w work) calledOff() bool {
	for _, k := range w.group {
		if k.State != client.Cancelled {
			return w.parent.State == client.Cancelled
		}
	}
	return true
}

// standing is what is waited for, in a few words.
func (w work) standing() string {
	var waits []string
	for i, k := range w.group {
		who, state, note := k.To, k.State, k.Why
		if i == 0 {
			who, state = firstOf(w.first.Owner, k.To, "nobody yet"), w.first.State
			note = firstOf(nowOf(w.first).Parked, w.first.Progress)
		}
		if note != "" {
			note = ": " + clip(oneLine(note), 200)
		}
		if state == client.Parked {
			note += "; " + without(w.parent, k.Task)
		}
		waits = append(waits, who+" ("+strings.ReplaceAll(string(state), "_", " ")+note+")")
	}
	return "waiting for " + strings.Join(waits, ", ")
}

// asks is what people are asked by whoever works on the first of the group.
func (w work) asks() client.Ticket {
	if w.first.Ticket == nil {
		return client.Ticket{}
	}
	return client.Ticket{ID: w.first.Ticket.ID, Intent: w.first.Intent, TicketDoc: w.first.Ticket.TicketDoc}
}

// questions are what the person at the client can answer of it: what the operators are asked, of whom that person is one. A
// ticket is answered once, so its id is a key that is used once.
func (r record) questions(k client.Ticket) map[string]*mcp.ElicitParams {
	if r.person == "" || k.ID == "" || !k.Open() || k.Kind != "question" || k.To != "" || k.Desk != operators {
		return nil
	}
	return map[string]*mcp.ElicitParams{k.ID: questionOf(k).form()}
}

// updated is the last that is known to have happened.
func (w work) updated() time.Time {
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
func (w work) result() *mcp.CallToolResult {
	var b strings.Builder
	done := 0
	var results []childNow
	for _, k := range w.group {
		line := childOf(k)
		if k.State == client.Completed {
			done++
		}
		results = append(results, line)
		fmt.Fprintf(&b, "\n%s: task %s is %s\n%s", firstOf(k.To, "nobody"), k.Task, strings.ReplaceAll(string(k.State), "_", " "), quoted(line.said()))
	}
	next := "status with this task shows why"
	switch {
	case w.parent.State == client.Executing:
		next = "go on with task " + w.parent.ID + ": complete, send or escalate it"
	case w.parent.State == client.Completed:
		next = ""
	case w.parent.Parked != nil:
		fmt.Fprintf(&b, "\nIt is in the dead letters: %s, %s", w.parent.Parked.Cause, w.parent.Parked.Detail)
	}
	of := client.Receipt{Task: w.parent.ID, State: w.parent.State, Owner: w.parent.Owner, Epoch: w.parent.Epoch}
	return &mcp.CallToolResult{
		IsError:           done == 0,
		Content:           []mcp.Content{&mcp.TextContent{Text: told(of, fmt.Sprintf("%d of %d results are in.", done, len(results)), next).text + b.String()}},
		StructuredContent: sentAnswer{receiptOf(of, next), results},
	}
}

// questionTask is a ticket as the holder of its handle sees it: with what ask would have answered if it had waited.
func (r record) questionTask(k client.Ticket) tasks.Task {
	t := tasks.Task{ID: k.ID, Status: tasks.Working, Created: k.Opened, Updated: k.Opened, Poll: poll}
	for _, at := range []time.Time{k.Claimed, k.Closed} {
		if at.After(t.Updated) {
			t.Updated = at
		}
	}
	switch {
	case k.Open():
		t.Message, t.Questions = ticketText(k), r.questions(k)
		if len(t.Questions) > 0 {
			t.Status = tasks.InputRequired
		}
	case k.Outcome == "withdrawn":
		t.Status, t.Message = tasks.Cancelled, ticketText(k)
	default:
		const next = "go on with the task"
		t.Status = tasks.Completed
		t.Result = &mcp.CallToolResult{
			Content:           []mcp.Content{&mcp.TextContent{Text: ticketText(k) + "\nNext: " + next}},
			StructuredContent: askAnswer{receipt: receipt{Task: k.Task, State: client.Executing, Ticket: k.ID, Next: next}, Answer: k.Answer, By: k.ClosedBy},
		}
	}
	return t
}
