package agents

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Beat notes that an agent lives, and whether it is connected: it keeps in touch by heartbeats, or by waiting for its inbox. Its return after
// a lapse is recorded, and that it is connected for the first time ([agent.ReturnPresence]), on a full disk too, since it reads its inbox then.
func (a *Agents) Beat(ctx context.Context, c caller.Caller, connected bool) error {
	name := c.Agent()
	if name == "" {
		return refusal.New(refusal.Invalid, "use an agent's token", "only agents have a presence")
	}
	if err := c.May(identity.ActOwn, "show that it lives"); err != nil {
		return a.access.Refused(ctx, c.Workspace, c.Actor(), "beat", name, err)
	}
	a.presence.Beat(c.Workspace, name)
	f, err := a.store.Load(ctx, StreamOf(c.Workspace, name), false)
	if err != nil || f.State.Name != name || !f.State.Connecting(connected) {
		return err
	}
	_, err = a.store.Change(ledger.ForRead(ctx), c.WithKey(""), name, "", agent.ReturnPresence{Name: name, Connected: connected})
	return err
}
