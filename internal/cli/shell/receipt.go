package shell

import (
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
	"github.com/trapezehq/trapeze/internal/domain/visible"
)

// EmitReceipt prints the state of a task after a change, or returns the error of the change.
func (s *Shell) EmitReceipt(r client.Receipt, err error) error {
	return s.Answer(r, err, func(p *Page) { p.Receipt(r) })
}

// Receipt prints the state of a task after a change.
func (p *Page) Receipt(r client.Receipt) {
	p.Fields([]Field{
		{"task", r.Task},
		{"state", string(r.State)},
		{"owner", r.Owner},
		{"epoch", Number(r.Epoch)},
		{"handoff", r.Handoff},
		{"stage", string(r.Stage)},
		{"offered to", Names(offeredTo(r))},
		{"children", Names(r.Children)},
		{"not reached", visible.Reasons(r.NotReached)},
		{"ask", r.Takeover},
		{"share", r.Share},
		{"ticket", r.Ticket},
		{"parked", Parked(r.Parked)},
		{"lease until", Clock(r.Lease)},
		{"envelope", sealed(r.Sealed)},
		{"decided", decided(r.Decision)},
		{"recorded", recorded(r)},
		{"entry", entry(r)},
	})
	if len(r.Children) > 0 {
		p.Next("To see the results of the children: %s", shellword.Command("trapeze task show", r.Task))
	}
}

// offeredTo returns the receivers of an offer that is open. Those of a handoff that is over say nothing of what the call did.
func offeredTo(r client.Receipt) []string {
	if r.State != client.HandingOff {
		return nil
	}
	return r.To
}

// sealed describes the envelope that a call sealed; empty if it sealed none.
func sealed(e *client.Sealed) string {
	if e == nil {
		return ""
	}
	text := "version " + e.Version
	if e.Tokens > 0 {
		count := refusal.Counted(e.Tokens, "token")
		if e.Estimate {
			count = "about " + count
		}
		text += ", " + count
		if e.Budget > 0 {
			text += fmt.Sprintf(" of %d", e.Budget)
		}
	} else if e.Uncounted != "" {
		text += ", tokens not counted: " + e.Uncounted
	}
	if n := len(e.References); n > 0 || e.Completeness < 1 {
		text += fmt.Sprintf(", %s, completeness %d %%", refusal.Counted(n, "reference"), int(100*e.Completeness)) + visible.Unresolved(e.Missing)
	}
	if e.Omitted > 0 {
		text += ", " + refusal.Counted(e.Omitted, "part") + " left out"
	}
	for _, of := range [][2]string{{"replaced by what was given with it: ", visible.Replaced(e.Missing)}, {"left out because the handoff is cold: ", visible.Counts(e.LeftOut)}} {
		if of[1] != "" {
			text += ", " + of[0] + of[1]
		}
	}
	return text
}

// decided describes the policy's decision on a handoff to auto; empty if the policy was not used.
func decided(d *client.Decision) string {
	if d == nil {
		return ""
	}
	rule := "no rule"
	if d.Rule != "" {
		rule = "rule " + d.Rule
	}
	if d.Action == "keep" {
		rule += ", the task stays with its owner"
	}
	return rule + ": " + strings.Join(d.Why, ", ")
}

// entry is the position of the entry that a call recorded; empty if it recorded none, or an earlier call did.
func entry(r client.Receipt) string {
	if len(r.Events) == 0 || r.Repeat {
		return ""
	}
	return Number(r.Position)
}

func recorded(r client.Receipt) string {
	what := "nothing: no change was needed"
	if len(r.Events) > 0 {
		what = strings.Join(r.Events, ", ")
	}
	if r.Repeat {
		what += " (by an earlier call with the same key)"
	}
	return what
}

// Parked describes why a task is in the dead letters; empty if it is not.
func Parked(p *client.ParkedFor) string {
	if p == nil {
		return ""
	}
	return p.Cause + ": " + p.Detail
}

// Relief prints which tasks were moved away from an agent, and which stay.
func (p *Page) Relief(r client.Relief) {
	var rows [][]string
	for _, m := range r.Moved {
		rows = append(rows, []string{m.Task, m.Handoff, "offered to " + Names(m.To)})
	}
	for _, k := range r.Kept {
		why := k.Why
		if k.Hint != "" {
			why += " (" + k.Hint + ")"
		}
		rows = append(rows, []string{k.Task, "", "stays: " + why})
	}
	p.Table(r.Agent+" has no tasks to move.", []string{"TASK", "HANDOFF", "RESULT"}, rows)
	if r.More {
		p.Line("There are more tasks to move: repeat the command.")
	}
}
