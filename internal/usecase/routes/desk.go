package routes

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/help"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/stream"
)

// Staffed refuses (unavailable) a desk that nobody serves. The operators' is always there.
func (r *Routes) Staffed(ctx context.Context, workspace, desk string) error {
	if desk == "" || desk == event.DeskOperators {
		return nil
	}
	had := r.views.Position()
	there, err := r.There(ctx, workspace)
	if err != nil || there.Desk(desk) {
		return err
	}
	more, err := stream.CatchUp(ctx, r.ledger, had, r.views.Wait) // views must not refuse what they do not know yet
	if err == nil && more {
		there, err = r.There(ctx, workspace)
	}
	if err != nil || there.Desk(desk) {
		return err
	}
	return refusal.New(refusal.Conflict, "ask the operators, or have one "+help.To("add a person", "agent add", "", "kind=human", "capabilities="+desk),
		"nobody serves the desk %s", desk)
}
