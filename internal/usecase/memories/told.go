package memories

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Told returns a function that reports whether a caller may read the item of an entry, or a version of it that one of its tasks grants. It looks at
// the tasks once: use one function for entries that belong together, in one goroutine.
func (st *Store) Told(c caller.Caller) func(ctx context.Context, e ledger.Entry) (bool, error) {
	var granted map[string]bool
	return func(ctx context.Context, e ledger.Entry) (bool, error) {
		f, err := st.LoadAt(ctx, e)
		if err != nil {
			return false, err
		}
		r := memory.Reader{Principal: c.Principal}
		if err := taskstore.Join(ctx, st.tasks, c.Workspace, &r, f.State.Task); err != nil || memory.MayRead(f.State, r) {
			return err == nil, err
		}
		if e.Version == 1 || c.Agent() == "" { // no envelope has it yet
			return false, nil
		}
		if granted == nil {
			if granted, err = st.grantedItems(ctx, c); err != nil {
				return false, err
			}
		}
		return granted[f.State.ID], nil
	}
}

// grantedItems are the ids of the items of which the newest tasks that the caller holds grant it a version.
func (st *Store) grantedItems(ctx context.Context, c caller.Caller) (map[string]bool, error) {
	held, err := st.views.Tasks(ctx, c.Workspace, view.TaskFilter{Owner: c.Agent(), Live: true, Limit: maxHeld})
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	ids := map[string]bool{}
	for _, v := range held {
		t, err := st.tasks.Find(ctx, c.Workspace, v.ID)
		if err != nil {
			return nil, err
		}
		refs, err := st.granted(ctx, c.Workspace, t, c.Agent())
		if err != nil {
			return nil, err
		}
		for _, g := range refs {
			ids[g.ID] = true
		}
	}
	return ids, nil
}
