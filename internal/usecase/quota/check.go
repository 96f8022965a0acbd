package quota

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Check refuses (limit) one more task to a principal that has as many open as it may.
func (q *Quota) Check(ctx context.Context, c caller.Caller) error {
	if c.IsSystem() {
		return nil
	}
	if open := q.open(ctx, c); open >= q.most {
		return refusal.New(refusal.Limit, "wait until some have ended, or cancel those that nobody needs",
			"%s has requested %d tasks that have not ended; at most %d may be open", c.Principal, open, q.most)
	}
	return nil
}
