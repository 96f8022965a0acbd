package shell

import (
	"strings"

	"github.com/trapezehq/trapeze/client"
)

// EmitReceipt answers with how a task stands after a change, or with the error that the change met.
func (s *Shell) EmitReceipt(r client.Receipt, err error) error {
	if err != nil {
		return err
	}
	return s.Emit(r, func(p *Page) { p.Receipt(r) })
}

// Receipt prints how a task stands after a change.
func (p *Page) Receipt(r client.Receipt) {
	p.Fields([]Field{
		{"task", r.Task},
		{"state", string(r.State)},
		{"owner", r.Owner},
		{"epoch", Number(r.Epoch)},
		{"handoff", r.Handoff},
		{"stage", string(r.Stage)},
		{"offered to", Names(r.To)},
		{"children", Names(r.Children)},
		{"ask", r.Ask},
		{"share", r.Share},
		{"ticket", r.Ticket},
		{"parked", Parked(r.Parked)},
		{"lease until", Clock(r.Lease)},
		{"decided", decided(r.Decision)},
		{"on record", happened(r)},
	})
	if len(r.Children) > 0 {
		p.Line("What comes of the children is shown by: trapeze task show %s", r.Task)
	}
}

// decided says what the policy made of a handoff to auto; nothing where it was not asked.
func decided(d *client.Decision) string {
	if d == nil {
		return ""
	}
	rule := "no rule"
	if d.Rule != "" {
		rule = "rule " + d.Rule
	}
	if d.Action == "keep" {
		rule += ", it stays where it is"
	}
	return rule + ": " + strings.Join(d.Why, ", ")
}

func happened(r client.Receipt) string {
	what := "nothing had to change"
	if len(r.Events) > 0 {
		what = strings.Join(r.Events, ", ")
	}
	if r.Repeat {
		what += " (already before: this is the first answer)"
	}
	return what
}

// Parked says why a task is among the dead letters; nothing for one that is not.
func Parked(p *client.ParkedFor) string {
	if p == nil {
		return ""
	}
	return p.Cause + ": " + p.Detail
}

// Relief prints what came of moving work away from an agent.
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
	p.Table("There is nothing to move away from "+r.Agent+".", []string{"TASK", "HANDOFF", "WHAT BECOMES OF IT"}, rows)
	if r.More {
		p.Line("There is more to move: say it again.")
	}
}
