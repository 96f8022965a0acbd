package tickets

import (
	"context"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// requireAskedHere refuses a person at the client of an agent a question that was not asked there. The agent's own questions are, and
// those of tasks that it has delegated and waits for, as far as they were put to the operators from the beginning: a question of another
// desk, or of somebody by name, is theirs, wherever it went when its time was over.
func (ts *Tickets) requireAskedHere(ctx context.Context, c caller.Caller, t task.Task, k task.Ticket) error {
	const hint = "leave it to those who were asked, or answer with a token of your own"
	id := event.TicketID(t.ID, k.N)
	switch {
	case k.To != "":
		return refusal.New(refusal.NotPermitted, "leave it to "+k.To, "ticket %s asks %s, and nobody at a client", id, k.To)
	case k.Desk != event.DeskOperators || k.Level > 0:
		return refusal.New(refusal.NotPermitted, hint, "ticket %s was not put to the operators, and nobody at a client is asked", id)
	case strings.TrimPrefix(k.By, "agent/") == c.Through:
		return nil
	}
	waits, err := ts.waitsFor(ctx, c, t)
	if err == nil && !waits {
		err = refusal.New(refusal.NotPermitted, hint, "ticket %s was not asked at the client of %s", id, c.Through)
	}
	return err
}

// waitsFor reports whether the agent through which a person speaks waits for a task as a part of another: one that it owns, or one
// that it requested and nobody owns.
func (ts *Tickets) waitsFor(ctx context.Context, c caller.Caller, t task.Task) (bool, error) {
	if t.Parent.Task == "" {
		return false, nil
	}
	whole, err := ts.tasks.Find(ctx, c.Workspace, t.Parent.Task)
	requester := identity.Principal{Role: identity.Agent, Name: c.Through}
	mine := whole.Owner == c.Through || whole.Owner == "" && whole.Requester == requester.String()
	return mine && !whole.State.Final(), err
}
