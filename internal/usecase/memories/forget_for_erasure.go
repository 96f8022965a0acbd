package memories

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// ForgetForErasure has an item forgotten before its content is erased. It is for use cases that have checked their caller.
func (st *Store) ForgetForErasure(ctx context.Context, c caller.Caller, id string) error {
	_, err := st.Do(ctx, c.WithKey("").Write(""), StreamOf(c.Workspace, id), func(s memory.State, now time.Time) ([]memory.Event, error) {
		if !s.Exists() {
			return nil, nil
		}
		return memory.Decide(s, memory.Forget{By: memory.Reader{Principal: c.Principal}, ID: id}, now)
	})
	return err
}
