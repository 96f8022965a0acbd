package artifacts

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Get opens an artifact that the caller may read; close it. The read is recorded when this returns.
// Nothing that is read may be relied on before io.EOF: until then the content may still turn out to be damaged
// ([artifact.ErrCorrupt]). What is not there, or not for the caller, is refused (not_found).
func (as *Artifacts) Get(ctx context.Context, c caller.Caller, d artifact.Digest) (io.ReadCloser, artifact.Info, error) {
	r, info, err := as.get(ctx, c, d)
	if err != nil {
		return nil, artifact.Info{}, as.access.Refused(ctx, c.Workspace, c.Actor(), "artifact", string(d), err)
	}
	return r, info, nil
}

func (as *Artifacts) get(ctx context.Context, c caller.Caller, d artifact.Digest) (_ io.ReadCloser, _ artifact.Info, err error) {
	done, err := as.busy.begin(c)
	if err != nil {
		return nil, artifact.Info{}, err
	}
	defer func() {
		if err != nil {
			done()
		}
	}()
	r, info, task, err := as.open(ctx, c, d)
	if err != nil {
		return nil, artifact.Info{}, err
	}
	if err := as.access.Read(ctx, c.Workspace, c.Actor(), task, "artifact", string(d)); err != nil {
		return nil, artifact.Info{}, errors.Join(err, r.Close())
	}
	return &outgoing{r, done}, info, nil
}

// open opens an artifact that the caller may read, by the task by which it may. The refusal, where there is none, tells those who had it if it was erased.
func (as *Artifacts) open(ctx context.Context, c caller.Caller, d artifact.Digest) (r io.ReadCloser, info artifact.Info, task string, err error) {
	k, task, err := as.find(ctx, c, d)
	may := err == nil
	if may {
		r, info, err = as.store.Get(ctx, k)
	}
	if refusal.CodeOf(err) == refusal.NotFound && as.erased != nil {
		err = as.missing(ctx, c, k, may, err)
	}
	return r, info, task, err
}

// missing is the refusal of an artifact that is not there, or that a caller may not read, who may have had it before an erasure: then it has a part
// in one of the tasks that were erased.
func (as *Artifacts) missing(ctx context.Context, c caller.Caller, k artifact.Key, may bool, refused error) error {
	note, tasks, err := as.erased(ctx, k.Workspace, string(k.Digest))
	if err != nil || note == "" {
		return cmp.Or(err, refused)
	}
	const next = "operators and auditors see why [in the list of erasures](hold list)"
	if may {
		return refusal.New(refusal.NotFound, next, "the artifact %s was %s", k.Digest, note)
	}
	if len(tasks) == 0 {
		return refused
	}
	had, err := as.views.Tasks(ctx, k.Workspace, view.TaskFilter{Involving: c.String(), IDs: tasks, Limit: 1})
	if err != nil {
		return stream.Unavailable(err)
	}
	if len(had) == 0 {
		return refused
	}
	return refusal.New(refusal.NotFound, next, "what referred to the artifact %s was %s", k.Digest, note) // others may refer to it still
}

// outgoing is a content on its way out.
type outgoing struct {
	io.ReadCloser
	done func()
}

func (o *outgoing) Close() error {
	o.done()
	return o.ReadCloser.Close()
}

// find is the key of an artifact that the caller may read, and the task by which it may, if it is for a task.
func (as *Artifacts) find(ctx context.Context, c caller.Caller, d artifact.Digest) (k artifact.Key, task string, err error) {
	k = artifact.Key{Workspace: c.Workspace, Digest: d}
	if err := c.May(identity.ReadOwn, "read an artifact"); err != nil {
		return k, "", err
	}
	if err := errors.Join(as.there(), d.Check()); err != nil {
		return k, "", err
	}
	if c.IsSystem() || identity.May(c.Role, identity.ReadAny) {
		return k, "", nil
	}
	f, err := as.kept.Load(ctx, streamOf(k), true)
	if err != nil || slices.Contains(f.State.By, c.String()) {
		return k, "", err
	}
	had := as.views.Position()
	task, err = as.through(ctx, c, d)
	if err != nil || task != "" {
		return k, task, err
	}
	behind, err := stream.CatchUp(ctx, as.ledger, had, as.views.Wait)
	if err == nil && behind { // views must not refuse anybody what they do not know yet
		task, err = as.through(ctx, c, d)
	}
	if err == nil && task == "" {
		err = artifact.NotFound(k)
	}
	return k, task, err
}

// maxThrough bounds how many tasks of a caller are looked at that all refer to one artifact.
const maxThrough = 1000

// through is a task of which an envelope refers to the artifact and says so to the caller; "" if there is none.
func (as *Artifacts) through(ctx context.Context, c caller.Caller, d artifact.Digest) (string, error) {
	f := view.ReferenceFilter{Involving: c.String(), Limit: 100}
	for range maxThrough / f.Limit {
		tasks, err := as.views.ReferringTasks(ctx, c.Workspace, string(d), f)
		if err != nil {
			return "", stream.Unavailable(err)
		}
		for _, task := range tasks {
			if may, err := as.tasks.Mentions(ctx, c, task, string(d)); err != nil || may {
				return task, err
			}
		}
		if len(tasks) < f.Limit {
			break
		}
		f.After = tasks[len(tasks)-1]
	}
	return "", nil
}
