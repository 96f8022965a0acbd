package show

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/visible"
)

// Task is the state of a task.
type Task struct {
	ID       string   `json:"id"`
	State    string   `json:"state"`
	Owner    string   `json:"owner,omitempty"`
	Epoch    uint64   `json:"epoch"`
	Intent   string   `json:"intent"`
	Handoff  string   `json:"handoff,omitempty"`
	Stage    string   `json:"stage,omitempty"`
	Why      string   `json:"why,omitempty"`
	To       []string `json:"to,omitempty"`
	Progress string   `json:"progress,omitempty"`
	Spent    string   `json:"spent,omitempty"`
	Children []Child  `json:"children,omitempty"`

	NotReached map[string]string `json:"not_reached,omitempty"`
	Ticket     string            `json:"ticket,omitempty"`
	Answers    []string          `json:"answers,omitempty"`
	Parked     string            `json:"parked,omitempty"`
	Result     *Result           `json:"result,omitempty"`
	Rules      []string          `json:"constraints,omitempty"` // as they are now; an owner may have got it with others

	answers []string // as text: who answered what
}

// Result is the result of a task.
type Result struct {
	Text   string          `json:"text,omitempty"`
	Data   json.RawMessage `json:"data,omitempty"`
	Review []string        `json:"review,omitempty"`
}

// Child is the state of a child task.
type Child struct {
	Task   string `json:"task"`
	To     string `json:"to"`
	State  string `json:"state"`
	Result string `json:"result,omitempty"`
	Why    string `json:"why,omitempty"`
	Ticket string `json:"ticket,omitempty"` // that is open
	Asks   string `json:"question,omitempty"`
}

// TaskOf describes a task.
func TaskOf(t client.Task) Task {
	now := Task{
		ID: t.ID, State: string(t.State), Owner: t.Owner, Epoch: t.Epoch, Intent: Clip(t.Intent, 500), Progress: t.Progress,
		Spent: spentOf(t),
	}
	if r := t.Result; r != nil {
		now.Result = &Result{r.Text, r.Data, r.Review}
	}
	if h := t.Handoff; h != nil {
		now.Handoff, now.Stage, now.To, now.Why = h.ID, string(h.Stage), h.To, h.Why
	}
	for _, k := range t.Children {
		now.Children = append(now.Children, ChildOf(k))
	}
	now.NotReached = t.NotReached
	if t.Ticket != nil && t.Ticket.Open() {
		now.Ticket = t.Ticket.ID
	}
	for _, a := range t.Answers {
		said := a.Answer
		if a.Detail != "" {
			said += " — " + a.Detail
		}
		now.Answers = append(now.Answers, a.By+" answered "+Clip(a.Question, 200)+": "+said)
		now.answers = append(now.answers, a.By+" answered "+Line(Clip(a.Question, 200))+": "+Kept(said))
	}
	if t.State == client.Parked && t.Parked != nil { // a cancelled one keeps its cause
		now.Parked = t.Parked.Cause + ": " + t.Parked.Detail
	}
	return now
}

// spentOf says what the task's agents have reported to have spent, and of how much.
func spentOf(t client.Task) string {
	var parts []string
	for _, p := range []struct {
		spent, budget int64
		unit          string
	}{{t.Spent.Tokens, t.Budget.Tokens, " tokens"}, {t.Spent.Cost, t.Budget.Cost, " millionths of cost"}} {
		text := strconv.FormatInt(p.spent, 10)
		if p.budget > 0 {
			text += " of " + strconv.FormatInt(p.budget, 10)
		}
		if p.spent > 0 || p.budget > 0 {
			parts = append(parts, text+p.unit)
		}
	}
	return strings.Join(parts, ", ")
}

// ChildOf describes a child task.
func ChildOf(k client.Child) Child {
	now := Child{Task: k.Task, To: k.To, State: string(k.State), Why: k.Why}
	if k.Result != nil {
		now.Result = WholeResult(k.Result.Text, k.Result.Data)
	}
	return now
}

// At returns the child with its state from its own task, which its parent hears of when it ends, and with its open ticket.
func (k Child) At(t client.Task) Child {
	k.State = string(t.State)
	if t.Ticket != nil && t.Ticket.Open() {
		k.Ticket, k.Asks = t.Ticket.ID, t.Ticket.Question
	}
	return k
}

// Reasons are agents, each with a reason, by name.
func Reasons(why map[string]string) string { return visible.Reasons(why) }

// Said is the result of a child task, or the reason why there is none.
func (k Child) Said() string {
	if k.Result != "" && strings.Contains(k.Result, k.Why) {
		return k.Result
	}
	return strings.TrimSpace(k.Why + "\n" + k.Result)
}

// WholeResult is a result as one text: its text, then its data.
func WholeResult(text string, data json.RawMessage) string {
	return strings.TrimSpace(text + "\n" + string(data))
}

// joined is a list of texts on one line, or each on lines of its own if one has several.
func joined(list []string) string {
	text := strings.Join(list, "; ")
	if strings.Contains(text, "\n") {
		return "\n" + strings.Join(list, "\n")
	}
	return text
}

// String is the task as a model reads it.
func (t Task) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Task %s is %s", t.ID, strings.ReplaceAll(t.State, "_", " "))
	if t.Owner != "" {
		fmt.Fprintf(&b, ", owner %s, epoch %d", t.Owner, t.Epoch)
	}
	fmt.Fprintf(&b, ".\nIntent: %s\n", Line(t.Intent))
	if t.Handoff != "" {
		fmt.Fprintf(&b, "Handoff %s: %s\n", t.Handoff, strings.TrimSpace(strings.ReplaceAll(t.Stage, "_", " ")+" "+cmp.Or(strings.Join(t.To, ", "), Line(t.Why))))
	}
	for _, k := range t.Children {
		fmt.Fprintf(&b, "Child %s for %s is %s", k.Task, cmp.Or(k.To, "nobody yet"), strings.ReplaceAll(k.State, "_", " "))
		if k.Ticket != "" {
			b.WriteString(", ticket " + k.Ticket + " is open")
		}
		if said := Kept(cmp.Or(k.Said(), k.Asks)); said != "" {
			b.WriteString(": " + said)
		}
		b.WriteString("\n")
	}
	for _, line := range []struct{ what, text string }{
		{"Not reached", Reasons(t.NotReached)}, {"Progress", Kept(t.Progress)}, {"Spent", t.Spent}, {"Open ticket", t.Ticket}, {"In the dead letters", Kept(t.Parked)}, {"Answers", joined(t.answers)},
	} {
		if line.text != "" {
			fmt.Fprintf(&b, "%s: %s\n", line.what, line.text)
		}
	}
	for i, rule := range t.Rules {
		if i == 0 {
			b.WriteString("Constraints as they are now; what was lifted is not among them:\n")
		}
		fmt.Fprintf(&b, "- %s\n", Line(rule))
	}
	if t.Result != nil {
		fmt.Fprintf(&b, "Result:\n%s\n", Quoted(WholeResult(t.Result.Text, t.Result.Data)))
	}
	return b.String()
}
