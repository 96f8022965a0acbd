package mcpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/client"
)

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
	if t.State == client.Parked && t.Parked != nil { // the cause stays after a replay
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

// said is the result of a child task, or the reason why there is none.
func (k childNow) said() string {
	if k.Result != "" && strings.Contains(k.Result, k.Why) {
		return k.Result
	}
	return strings.TrimSpace(k.Why + "\n" + k.Result)
}

// wholeResult is a result as one text: its text, then its data.
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
		fmt.Fprintf(&b, "Handoff %s: %s\n", t.Handoff, strings.TrimSpace(strings.ReplaceAll(t.Stage, "_", " ")+" "+cmp.Or(strings.Join(t.To, ", "), oneLine(t.Why))))
	}
	for _, k := range t.Children {
		fmt.Fprintf(&b, "Child %s for %s is %s", k.Task, cmp.Or(k.To, "nobody yet"), strings.ReplaceAll(k.State, "_", " "))
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

// nextOf says what to do about a task that its owner cannot simply continue: wait, or handle dead letters.
func nextOf(t client.Task, waits bool) string {
	again := ""
	if waits && !t.State.Final() {
		again = fmt.Sprintf("to wait for a change, call status with id=%s, wait=45, after=%d", t.ID, t.Position)
	}
	stranded := t.Stranded()
	switch {
	case t.State == client.Parked && denied(t):
		return "the handoff was denied, and only an operator can replay the task: tell the user. Do not send the same again; cancel discards it"
	case t.State == client.Parked:
		return "only an operator can replay it. Tell the user, or send its intent as a new task, with what was missing"
	case len(stranded) == 0:
		return again
	case again != "":
		again = "; " + again
	}
	return without(t, stranded[0].Task) + again
}

// denied reports whether a task is in the dead letters because its handoff was denied.
func denied(t client.Task) bool {
	return t.Parked != nil && t.Parked.Cause == "returned" && t.Ticket != nil && t.Ticket.Outcome == "denied"
}

// without says how the owner or requester of a task continues when a child task is in the dead letters.
func without(t client.Task, child string) string {
	replay := "only an operator can replay " + child + ": tell the user. "
	if t.Owner == "" {
		return replay + "Or call cancel with id=" + t.ID + ", and send its intent to another agent"
	}
	return replay + "Or call cancel with id=" + child + ": you continue without it, and can send its work to another agent"
}

// taskOf returns the id of the task that an id of a handoff, ticket or share belongs to.
func taskOf(id string) string {
	task, _, _ := strings.Cut(id, ".")
	return task
}

// epochOf returns the epoch for a change of a task: the one given, or the current one of the task.
func (c *call) epochOf(ctx context.Context, task string, given uint64) (uint64, error) {
	if given != 0 {
		return given, nil
	}
	t, err := c.Task(ctx, task)
	return t.Epoch, err
}
