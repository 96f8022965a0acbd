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

// Told returns a function that reports whether a caller may read the item of an entry, or a version of it that one of its tasks grants. since is the
// position of the newest entry known of a task that the caller sees: what its tasks grant is looked up again only after it. Use the function in one goroutine.
func (st *Store) Told(c caller.Caller) func(ctx context.Context, e ledger.Entry, since ledger.Position) (bool, error) {
	var had *grants
	return func(ctx context.Context, e ledger.Entry, since ledger.Position) (bool, error) {
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
		if had != nil && had.at >= since {
			task, granted := had.by[f.State.ID]
			if !granted {
				return false, nil
			}
			if still, err := st.grantedBy(ctx, c, &r, f.State.ID, task); err != nil || still {
				return still, err
			}
		}
		if had, err = st.grants(ctx, c); err != nil {
			return false, err
		}
		return had.by[f.State.ID] != "", nil
	}
}

// grants is what the newest tasks that a caller holds grant it.
type grants struct {
	at ledger.Position   // up to which entries of tasks are taken into account
	by map[string]string // by the id of an item, the task that grants a version of it
}

func (st *Store) grants(ctx context.Context, c caller.Caller) (*grants, error) {
	out := &grants{at: st.views.Position(), by: map[string]string{}}
	held, err := st.views.Tasks(ctx, c.Workspace, view.TaskFilter{Owner: c.Agent(), Live: true, Limit: maxHeld})
	if err != nil {
		return nil, stream.Unavailable(err)
	}
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
			out.by[g.ID] = v.ID
		}
	}
	return out, nil
}
