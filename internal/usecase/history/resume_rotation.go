package history

import (
	"context"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// ResumeRotation ends a rotation of the key that was recorded and then interrupted. It does nothing if there is none.
func (h *History) ResumeRotation(ctx context.Context, _ caller.Caller) error {
	h.rotating.Lock()
	defer h.rotating.Unlock()
	return h.resumeRotation(ctx)
}
