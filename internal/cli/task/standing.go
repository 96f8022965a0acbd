package task

import (
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// maxSaid is the length of the text of others in a line, in characters.
const maxSaid = 100

// standing is who has a task now, or what it waits for, with the command that helps; empty once it has ended. A command that is for others than the reader is
// printed as it is.
func standing(t client.Task) (line string, forOthers bool) {
	if k := t.Ticket; k != nil && k.Open() && !t.State.Final() && t.State != client.Parked {
		return asked(*k), true
	}
	if h := t.Handoff; h != nil && t.State == client.HandingOff {
		return underWay(*h), true
	}
	return held(t), false
}

// held is who has a task for which no ticket is open and no handoff under way.
func held(t client.Task) string {
	switch {
	case t.State == client.Parked:
		return "It is in the dead letters; an operator can replay it: " + shellword.Command("trapeze dead replay", t.ID)
	case t.State.Final():
		return ""
	case t.Owner == "" && len(t.Dependencies) > 0:
		return "It waits for the tasks that it depends on."
	case t.Owner == "":
		return "Nobody has it; hand it off with: " + shellword.Command("trapeze send", t.ID) + " --to NAME"
	case t.State == client.Waiting:
		return inParts(t)
	case t.Progress != "":
		return t.Owner + " has it: " + shell.Clip(t.Progress, maxSaid)
	}
	return t.Owner + " has it."
}

// asked is what a ticket asks of people, with the command that answers it.
func asked(k client.TaskTicket) string {
	who := "people"
	if k.Desk != "" {
		who = "the desk " + k.Desk
	}
	switch k.Kind {
	case "question":
		answer, options := "ANSWER", ""
		if len(k.Options) > 0 {
			answer, options = shellword.Quote(k.Options[0]), " ("+shell.OneOf(k.Options)+")"
		}
		return fmt.Sprintf("It waits for an answer of %s%s: %s; answer it with: %s %s", who, options, shell.Clip(k.Question, maxSaid), shellword.Command("trapeze ticket answer", k.ID), answer)
	case "approval":
		return fmt.Sprintf("It waits for %s to approve or deny its handoff: %s, or %s", who, shellword.Command("trapeze ticket approve", k.ID), shellword.Command("trapeze ticket deny", k.ID))
	}
	return fmt.Sprintf("It waits for %s; see it with: %s", who, shellword.Command("trapeze ticket show", k.ID))
}

// underWay is where a handoff stands.
func underWay(h client.Handoff) string {
	switch {
	case h.Stage == client.StageAwaitingApproval:
		return "Its handoff waits for approval: " + shellword.Command("trapeze approve", h.ID) + ", or " + shellword.Command("trapeze deny", h.ID)
	case h.Stage == client.StageAccepted:
		return h.Receiver + " has accepted it, and " + h.From + " has yet to confirm: " + shellword.Command("trapeze confirm", h.ID) + " --agent " + shellword.Quote(h.From)
	case len(h.To) > 0:
		return "It is offered to " + shell.OneOf(h.To) + "."
	case !h.RetryAt.IsZero():
		return "It is offered again at " + shell.Clock(h.RetryAt) + "."
	}
	return "Its handoff is under way."
}

// inParts is which of its children a task waits for.
func inParts(t client.Task) string {
	var open []string
	for _, c := range t.Children {
		if !c.State.Final() {
			open = append(open, c.Task)
		}
	}
	if len(open) == 0 {
		return t.Owner + " has it, and can continue."
	}
	return t.Owner + " has it, and waits for " + refusal.Counted(len(open), "part") + ": " + strings.Join(open[:min(len(open), 3)], ", ")
}
