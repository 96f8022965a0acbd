package history

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// errSaid ends the reading of a task that says all that is looked for.
var errSaid = errors.New("said")

// Unsaid returns those of some words, in lower case, that the caller does not read in the content of a task: in what its trail would show, without what was forgotten.
// A task that the caller may not see says nothing, and neither do entries that cannot be read. The caller of Unsaid records what is found.
func (h *History) Unsaid(ctx context.Context, c caller.Caller, id string, words []string) ([]string, error) {
	of := taskstore.StreamOf(c.Workspace, id)
	f, err := h.tasks.Load(ctx, of, false)
	if err != nil || !f.State.Exists() || !h.tasks.Sees(c, f.State) {
		return words, err
	}
	past, err := h.tasks.PastFor(ctx, c, f.State)
	if err != nil {
		return words, err
	}
	readable, left := h.memories.Reader(), slices.Clone(words)
	err = stream.Each(ctx, h.ledger, of, func(e ledger.Entry) error {
		if !past.Reads(e) {
			return nil
		}
		own, err := readable(ctx, e)
		if err != nil {
			return err
		}
		for _, text := range view.Texts(own) {
			text = strings.ToLower(text)
			left = slices.DeleteFunc(left, func(w string) bool { return strings.Contains(text, w) })
		}
		if len(left) == 0 {
			return errSaid
		}
		return nil
	})
	if _, damaged := errors.AsType[*ledger.Damaged](err); damaged || errors.Is(err, errSaid) {
		err = nil
	}
	return left, err
}
