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
		for after := ledger.Position(arrived.First) - 1; after < ledger.Position(arrived.Last); {
			list, err := c.ledger.Read(ctx, after, arrivedPage)
			if err != nil || len(list) == 0 {
				return err
			}
			for i := range list {
				if after = list[i].Position; after > ledger.Position(arrived.Last) {
					break
				}
				if of, _, _ := list[i].Stream.Parts(); of != name {
					continue
				}
				if err := c.react(ctx, list[i]); err != nil && !isDamaged(err) {
					return err
				}
			}
		}
	}
	return nil
}

// arrivedPage is how many entries are read at once.
const arrivedPage = 500
