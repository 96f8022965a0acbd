package history

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// errSaid ends the reading of a task that says all that is looked for.
var errSaid = errors.New("said")

// Unsaid returns those of some words, in lower case, that the caller does not read in the content of a task: in what its trail would show, without what was forgotten.
// A task that the caller may not see says nothing, and neither do entries that cannot be read, or were put away. The caller of Unsaid records what is found.
func (h *History) Unsaid(ctx context.Context, c caller.Caller, id string, words []string) ([]string, error) {
	of := taskstore.StreamOf(c.Workspace, id)
	f, err := h.tasks.Load(ctx, of, false)
	if err != nil || !f.State.Exists() || !h.tasks.Sees(c, f.State) {
		return words, unlessUnread(err)
	}
	past, err := h.tasks.PastFor(ctx, c, f.State)
	if err != nil {
		return words, unlessUnread(err)
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
	if errors.Is(err, errSaid) {
		err = nil
	}
	return left, unlessUnread(err)
}

// unlessUnread is the refusal of a read that failed, and nil if an entry is damaged or put away: those errors, and the refusals that are made of them,
// name its position.
func unlessUnread(err error) error {
	if _, damaged := errors.AsType[*ledger.Damaged](err); err == nil || damaged { // or put away
		return nil
	}
	refused, ok := refusal.As(err)
	if !ok {
		return stream.Unavailable(err)
	}
	if refused.Details["position"] != nil {
		return nil
	}
	return err
}
