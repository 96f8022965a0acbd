package erasures

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/erasure"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// LiftHold ends a legal hold. It is for operators.
func (es *Erasures) LiftHold(ctx context.Context, c caller.Caller, in HoldInput) (ErasureList, error) {
	return es.hold(ctx, c, "lift-hold", in, func(s erasure.Subject) erasure.Command {
		return erasure.LiftHold{By: c.Principal, Subject: s, Why: in.Why}
	})
}
