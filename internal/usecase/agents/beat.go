package agents

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Beat notes that an agent lives. Only its return after a lapse is recorded, on a full disk too, since it reads its inbox then.
func (a *Agents) Beat(ctx context.Context, c caller.Caller) error {
	name := c.Agent()
	if name == "" {
		return refusal.New(refusal.Invalid, "use an agent's token", "only agents have a presence")
	}
	if err := c.May(identity.ActOwn, "show that it lives"); err != nil {
		return a.access.Refused(ctx, c.Workspace, c.Actor(), "beat", name, err)
	}
	a.presence.Beat(c.Workspace, name)
	f, err := a.store.Load(ctx, StreamOf(c.Workspace, name), false)
	if err != nil || !f.State.Lapsed || f.State.Name != name {
		return err
	}
	_, err = a.store.Change(ledger.ForRead(ctx), c.WithKey(""), name, "", agent.ReturnPresence{Name: name})
	return err
}
