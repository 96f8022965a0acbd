package courier

import (
	"context"
	"encoding/json"

	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// reactWorkspace does what follows from the entries of a workspace that moved here, once it has arrived: some of it may not have been done where it was before.
func (c *Courier) reactWorkspace(ctx context.Context, name string, e ledger.Entry) error {
	if err := c.do.LookAt(ctx, name); err != nil {
		return err
	}
	for _, ev := range e.Events {
		var arrived workspace.Arrived
		if ev.Name != arrived.EventName() {
			continue
		}
		if err := json.Unmarshal(ev.Data, &arrived); err != nil {
			return err
		}
		err := ledger.Through(ctx, c.ledger, ledger.Position(arrived.First)-1, ledger.Position(arrived.Last), func(e *ledger.Entry) error {
			if of, _, _ := e.Stream.Parts(); of != name {
				return nil
			}
			if err := c.react(ctx, *e); err != nil && !isDamaged(err) {
				return err
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
