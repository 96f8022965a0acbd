package erasures

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/erasure"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// SetHold begins a legal hold: nothing that the subject names is erased until the hold is lifted. It is for operators.
func (es *Erasures) SetHold(ctx context.Context, c caller.Caller, in HoldInput) (ErasureList, error) {
	return es.hold(ctx, c, "set-hold", in, func(s erasure.Subject) erasure.Command {
		return erasure.SetHold{By: c.Principal, Subject: s, Why: in.Why}
	})
}
