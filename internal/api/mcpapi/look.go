package mcpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/liveness"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/resource"
)

type statusInput struct {
	ID      string `json:"id,omitempty" jsonschema:"a task, handoff, ticket or share; without it: the tasks you own, requested or are offered, and open tickets"`
	History bool   `json:"history,omitempty" jsonschema:"everything on record about the task"`
	Wait    int    `json:"wait,omitempty" jsonschema:"seconds to wait until it ends, at most 50; with after: until it changes"`
	After   uint64 `json:"after,omitempty" jsonschema:"position of the answer before"`
}

// standing is how a task, a handoff or a ticket stands, or a list of tasks.
type standing struct {
	Task     *taskNow     `json:"task,omitempty"`
	Ticket   *ticketNow   `json:"ticket,omitempty"`
	Tasks    []taskLine   `json:"tasks,omitempty"`
	Tickets  []ticketNow  `json:"tickets,omitempty"`
	History  []historyRow `json:"history,omitempty"`
	More     bool         `json:"more,omitempty"`
	Shared   string       `json:"shared,omitempty"`
	Position uint64       `json:"position"`
}

type taskNow struct {
	ID       string     `json:"id"`
	State    string     `json:"state"`
	Owner    string     `json:"owner,omitempty"`
	Epoch    uint64     `json:"epoch"`
	Intent   string     `json:"intent"`
	Handoff  string     `json:"handoff,omitempty"`
	Stage    string     `json:"stage,omitempty"`
	Why      string     `json:"why,omitempty"`
	To       []string   `json:"to,omitempty"`
	Progress string     `json:"progress,omitempty"`
	Children []childNow `json:"children,omitempty"`
	Ticket   string     `json:"ticket,omitempty"`
	Answers  []string   `json:"answers,omitempty"`
	Parked   string     `json:"parked,omitempty"`
	Result   *resultNow `json:"result,omitempty"`
}

type resultNow struct {
	Text   string          `json:"text,omitempty"`
	Data   json.RawMessage `json:"data,omitempty"`
	Review []string        `json:"review,omitempty"`
}

type childNow struct {
	Task   string `json:"task"`
	To     string `json:"to"`
	State  string `json:"state"`
	Result string `json:"result,omitempty"`
	Why    string `json:"why,omitempty"`
}

type taskLine struct {
	ID     string   `json:"id"`
	State  string   `json:"state"`
	Owner  string   `json:"owner,omitempty"`
	To     []string `json:"to,omitempty"`
	Intent string   `json:"intent"`
}

type historyRow struct {
	Time  time.Time `json:"time"`
	Event string    `json:"event"`
	By    string    `json:"by"`
}

const (
	mostTasks   = 30
	mostHistory = 200
)

var statusTool = define[statusInput, standing]("status", "Look at a task", looks,
	"How a task, handoff or ticket stands, with results of children and answers; its history; or your tasks. wait blocks.",
	func(ctx context.Context, c *call, in statusInput) (answer, error) {
		if err := in.check(); err != nil {
			return answer{}, err
		}
		defer c.alive(ctx, "waiting for a change")()
		switch {
		case in.ID == "":
			return c.mine(ctx)
		case strings.Contains(in.ID, ".k"):
			k, err := liveness.Ride(ctx, c.options.Remote, in.Wait, func(wait time.Duration) (client.Ticket, error) { return c.Ticket(ctx, in.ID, wait) })
			if err != nil {
				return answer{}, err
			}
			now := ticketOf(k)
			return answer{text: ticketText(k), data: standing{Position: k.Position, Ticket: &now}}, nil
		case strings.Contains(in.ID, ".s"):
			return c.shared(ctx, in.ID)
		case in.History:
			return c.history(ctx, taskOf(in.ID))
		}
		t, err := liveness.Ride(ctx, c.options.Remote, in.Wait, func(wait time.Duration) (client.Task, error) { return c.WaitTask(ctx, taskOf(in.ID), in.After, wait) })
		if err != nil {
			return answer{}, err
		}
		now := nowOf(t)
		text := now.String()
		if next := nextOf(t, in.Wait > 0); next != "" {
			text += "Next: " + next
		}
		return answer{text: text, data: standing{Task: &now, Position: t.Position}, stands: liveness.Seen(t), more: resource.TaskLinks(t.ID, t.Envelope)}, nil
	})

// nextOf is what helps a task on, where that is not its owner's work.
func nextOf(t client.Task, waits bool) string {
	again := ""
	if waits && !t.State.Final() {
		again = fmt.Sprintf("to wait for a change call status with id=%s, wait=45, after=%d", t.ID, t.Position)
	}
	stranded := t.Stranded()
	switch {
	case t.State == client.Parked && denied(t):
		return "it was denied, and only an operator can replay it: tell the person. Do not send the same again; cancel puts it away"
	case t.State == client.Parked:
		return "only an operator can replay it. Tell the person, or send its intent as a new task with what it lacked"
	case len(stranded) == 0:
		return again
	case again != "":
		again = "; " + again
	}
	return without(t, stranded[0].Task) + again
}

// denied reports whether a task is in the dead letters because somebody said no to its handoff.
func denied(t client.Task) bool {
	return t.Parked != nil && t.Parked.Cause == "returned" && t.Ticket != nil && t.Ticket.Outcome == "denied"
}

// without is how whoever stands behind a task goes on where a child of it is in the dead letters.
func without(t client.Task, child string) string {
	replay := "only an operator can replay " + child + ": tell the person. "
	if t.Owner == "" {
		return replay + "Or call cancel with id=" + t.ID + ", and send its intent to somebody else"
	}
	return replay + "Or call cancel with id=" + child + ": you go on without it, and can send what it was to do to somebody else"
}

// check refuses what would count for nothing, and be taken for done by whoever asked for it.
func (in statusInput) check() error {
	switch {
	case in.Wait < 0 || in.Wait > maxWait:
		return invalid("wait is %d; use 0 to %d seconds and call again if nothing changed", in.Wait, maxWait)
	case in.ID == "" && (in.Wait > 0 || in.History):
		return invalid("wait and history are of one task: give its id")
	case in.History && (in.Wait > 0 || strings.Contains(in.ID, ".k")):
		return invalid("history is of a task, and without wait")
	}
	return nil
}

// taskOf is the task that an id belongs to.
func taskOf(id string) string {
	task, _, _ := strings.Cut(id, ".")
	return task
}

func nowOf(t client.Task) taskNow {
	now := taskNow{
		ID: t.ID, State: string(t.State), Owner: t.Owner, Epoch: t.Epoch, Intent: clip(t.Intent, 500), Progress: t.Progress,
	}
	if r := t.Result; r != nil {
		now.Result = &resultNow{r.Text, r.Data, r.Review}
	}
	if h := t.Handoff; h != nil {
		now.Handoff, now.Stage, now.To, now.Why = h.ID, string(h.Stage), h.To, h.Why
	}
	for _, k := range t.Children {
		now.Children = append(now.Children, childOf(k))
	}
	if t.Ticket != nil && t.Ticket.Open() {
		now.Ticket = t.Ticket.ID
	}
	for _, a := range t.Answers {
		now.Answers = append(now.Answers, a.By+" answered "+clip(a.Question, 200)+": "+a.Answer)
	}
	if t.State == client.Parked && t.Parked != nil { // it is kept after a replay
		now.Parked = t.Parked.Cause + ": " + t.Parked.Detail
	}
	return now
}

func childOf(k client.Child) childNow {
	now := childNow{Task: k.Task, To: k.To, State: string(k.State), Why: k.Why}
	if k.Result != nil {
		now.Result = wholeResult(k.Result.Text, k.Result.Data)
	}
	return now
}

// said is what there is to say of a child: what came of it, or why nothing did.
func (k childNow) said() string {
	if k.Result != "" && strings.Contains(k.Result, k.Why) {
		return k.Result
	}
	return strings.TrimSpace(k.Why + "\n" + k.Result)
}

// wholeResult is a result as one text: what it says, and its data behind.
func wholeResult(text string, data json.RawMessage) string {
	return strings.TrimSpace(text + "\n" + string(data))
}

func (t taskNow) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Task %s is %s", t.ID, strings.ReplaceAll(t.State, "_", " "))
	if t.Owner != "" {
		fmt.Fprintf(&b, ", owner %s, epoch %d", t.Owner, t.Epoch)
	}
	fmt.Fprintf(&b, ".\nIntent: %s\n", oneLine(t.Intent))
	if t.Handoff != "" {
		fmt.Fprintf(&b, "Handoff %s: %s\n", t.Handoff, strings.TrimSpace(strings.ReplaceAll(t.Stage, "_", " ")+" "+firstOf(strings.Join(t.To, ", "), oneLine(t.Why))))
	}
	for _, k := range t.Children {
		fmt.Fprintf(&b, "Child %s for %s is %s", k.Task, firstOf(k.To, "nobody yet"), strings.ReplaceAll(k.State, "_", " "))
		if said := oneLine(k.said()); said != "" {
			b.WriteString(": " + said)
		}
		b.WriteString("\n")
	}
	for _, line := range []struct{ what, text string }{
		{"Progress", oneLine(t.Progress)}, {"Open ticket", t.Ticket}, {"In the dead letters", t.Parked}, {"Answers", oneLine(strings.Join(t.Answers, "; "))},
	} {
		if line.text != "" {
			fmt.Fprintf(&b, "%s: %s\n", line.what, line.text)
		}
	}
	if t.Result != nil {
		fmt.Fprintf(&b, "Result:\n%s\n", quoted(wholeResult(t.Result.Text, t.Result.Data)))
	}
	return b.String()
}

func (c *call) history(ctx context.Context, task string) (answer, error) {
	trail, err := c.Trail(ctx, task)
	if err != nil {
		return answer{}, err
	}
	entries := trail.Entries
	out := standing{More: len(entries) > mostHistory, History: []historyRow{}}
	entries = entries[max(0, len(entries)-mostHistory):]
	var b strings.Builder
	for _, e := range entries {
		out.History = append(out.History, historyRow{e.Timestamp, e.Event, e.Agent})
		fmt.Fprintf(&b, "%s %s by %s %s\n", e.Timestamp.Format("15:04:05"), e.Event, e.Agent, clip(oneLine(string(e.Details)), 200))
		out.Position = e.Position
	}
	if out.More {
		fmt.Fprintf(&b, "These are the last %d of %d; trapeze://task/%s/history has all.\n", mostHistory, len(trail.Entries), task)
	}
	return answer{text: b.String(), data: out}, nil
}

// shared is what an agent was given of a task that is not its own. Reading it takes it out of the inbox.
func (c *call) shared(ctx context.Context, id string) (answer, error) {
	s, err := c.Content(ctx, id, client.ContentInput{Render: true})
	if err != nil {
		return answer{}, err
	}
	return answer{text: "The task is not yours; this is for you to know.\n\n" + s.Prompt, data: standing{Shared: s.Prompt}}, nil
}

// mine lists the live tasks and the open tickets that the caller has a part in; of an operator, all there are.
func (c *call) mine(ctx context.Context) (answer, error) {
	page, err := c.Tasks(ctx, client.TaskFilter{Live: true, Limit: mostTasks})
	if err != nil {
		return answer{}, err
	}
	out := standing{Tasks: []taskLine{}, Position: page.Position, More: page.Next != ""}
	var b strings.Builder
	for _, t := range page.Tasks {
		out.Tasks = append(out.Tasks, taskLine{t.ID, string(t.State), t.Owner, t.To, t.Intent})
		fmt.Fprintf(&b, "- %s %s, owner %s", t.ID, strings.ReplaceAll(string(t.State), "_", " "), firstOf(t.Owner, "nobody"))
		if len(t.To) > 0 {
			b.WriteString(", offered to " + strings.Join(t.To, ", "))
		}
		b.WriteString(": " + oneLine(t.Intent) + "\n")
	}
	if len(page.Tasks) == 0 {
		b.WriteString("No open tasks. status with its id shows one that has ended.\n")
	}
	err = c.tickets(ctx, &out, &b)
	return answer{text: b.String(), data: out}, err
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
