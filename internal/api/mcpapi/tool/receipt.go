package tool

import (
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/liveness"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/domain/visible"
)

// Receipt is the state of a task after a call: what the next call needs, and no more.
type Receipt struct {
	Task     string       `json:"task"`
	State    client.State `json:"state"`
	Owner    string       `json:"owner,omitempty"`
	Epoch    uint64       `json:"epoch,omitempty"`
	Handoff  string       `json:"handoff,omitempty"`
	Stage    client.Stage `json:"stage,omitempty"`
	To       []string     `json:"to,omitempty"`
	Children []string     `json:"children,omitempty"`

	NotReached map[string]string `json:"not_reached,omitempty"`

	Ticket   string         `json:"ticket,omitempty"`
	Decision *show.Decision `json:"decision,omitempty"`
	Sealed   *client.Sealed `json:"sealed,omitempty"`
	Repeat   bool           `json:"repeat,omitempty"`
	Position uint64         `json:"position,omitempty"`
	Next     string         `json:"next,omitempty"`
}

// ReceiptOf is what a model is told of a receipt, with what to call next.
func ReceiptOf(r client.Receipt, next string) Receipt {
	out := Receipt{
		Task: r.Task, State: r.State, Owner: r.Owner, Epoch: r.Epoch, Handoff: r.Handoff, Stage: r.Stage, To: r.To, Children: r.Children, NotReached: r.NotReached,
		Ticket: r.Ticket, Repeat: r.Repeat, Next: next, Position: r.Position,
	}
	if r.Decision != nil {
		d := show.DecisionOf(*r.Decision)
		out.Decision = &d
	}
	if r.Sealed != nil && (r.Handoff != "" || len(r.Children) > 0 || r.Share != "" || len(r.Sealed.References) > 0 || r.Sealed.Completeness < 1) { // else nobody is to read it
		out.Sealed = r.Sealed
	}
	return out
}

// Changed answers a tool call with the receipt of a change as [Told] does, or with the error of the change.
func Changed(r client.Receipt, err error, did, next string) (Answer, error) {
	if err != nil {
		return Answer{}, err
	}
	return Told(r, did, next), nil
}

// Told converts a receipt to an answer. did says what happened, next what to call now.
func Told(r client.Receipt, did, next string) Answer {
	var b strings.Builder
	fmt.Fprintf(&b, "%s Task %s is %s", did, r.Task, strings.ReplaceAll(string(r.State), "_", " "))
	if r.Owner != "" {
		fmt.Fprintf(&b, ", owner %s, epoch %d", r.Owner, r.Epoch)
	}
	b.WriteString(".")
	if r.Handoff != "" && r.State == client.HandingOff {
		fmt.Fprintf(&b, " Handoff %s is %s", r.Handoff, strings.ReplaceAll(string(r.Stage), "_", " "))
		switch {
		case len(r.To) > 0 && r.Stage == client.StageAccepted:
			b.WriteString(" by " + strings.Join(r.To, ", "))
		case len(r.To) > 0:
			b.WriteString(" to " + strings.Join(r.To, ", "))
		}
		b.WriteString(".")
	}
	if e := r.Sealed; e != nil && e.Tokens > 0 && e.Budget > 0 && r.State != client.Parked {
		fmt.Fprintf(&b, " The receiver reads %d tokens of its %d.", e.Tokens, e.Budget)
	}
	if e := r.Sealed; e != nil && e.Completeness < 1 {
		fmt.Fprintf(&b, " Not all references could be resolved: the context has %d of them, completeness %d %%%s.", len(e.References), int(100*e.Completeness), visible.Unresolved(e.Missing))
	}
	if e := r.Sealed; e != nil && visible.Replaced(e.Missing) != "" {
		fmt.Fprintf(&b, " Replaced by what you gave with it, and not given to the receiver: %s.", visible.Replaced(e.Missing))
	}
	if e := r.Sealed; e != nil && len(e.LeftOut) > 0 {
		fmt.Fprintf(&b, " The handoff is cold: the receiver does not get what you gave with it (%s). Send it warm, or say it in the ask or the notes.", visible.Counts(e.LeftOut))
	}
	if len(r.Children) > 0 {
		b.WriteString(" Children: " + strings.Join(r.Children, ", ") + ".")
	}
	if missed := show.Reasons(r.NotReached); missed != "" {
		b.WriteString(" Not reached, and without a copy: " + missed + ".")
	}
	if r.Repeat {
		b.WriteString(" This is a repeated call: it took effect before, and not again.")
	}
	if next != "" {
		b.WriteString("\nNext: " + next)
	}
	return Answer{Text: b.String(), Data: ReceiptOf(r, next), Status: liveness.AfterCall(r)}
}
