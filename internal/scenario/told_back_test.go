package scenario

import (
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
)

func (h *harness) pin(by caller.Caller, id string) {
	h.Helper()
	ok(h, by, func(c caller.Caller) (memories.Item, error) { return h.app.Memories.Pin(ctx(h), c, id) })
}
