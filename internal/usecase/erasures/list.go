package erasures

import (
	"context"
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/erasure"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/seal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// ListInput narrows the list of holds and erasures to those of a task or of a memory item. Its zero value does not.
type ListInput struct {
	Task   string
	Memory string
}

// List lists the holds and erasures: of a task, the holds that keep its content from being erased, those on its ancestors and their tags among
// them, and the erasures that erased it. It is for principals that may read anything.
func (es *Erasures) List(ctx context.Context, c caller.Caller, in ListInput) (ErasureList, error) {
	list, err := es.read(ctx, c, in)
	if err != nil {
		return ErasureList{}, es.p.Access.Refused(ctx, c.Workspace, c.Actor(), "list-erasures", "", err)
	}
	return list, nil
}

func (es *Erasures) read(ctx context.Context, c caller.Caller, in ListInput) (ErasureList, error) {
	if err := c.May(identity.ReadAny, "list erasures"); err != nil {
		return ErasureList{}, err
	}
	if in.Task != "" && in.Memory != "" {
		return ErasureList{}, refusal.New(refusal.Invalid, "leave one of them out", "a list is of a task or of a memory item")
	}
	f, err := es.kind.Load(ctx, StreamOf(c.Workspace), true)
	if err != nil || in == (ListInput{}) {
		return es.list(f.State, f.Head), err
	}
	names, err := es.naming(ctx, c.Workspace, in)
	if err != nil {
		return ErasureList{}, err
	}
	of := taskstore.StreamOf(c.Workspace, in.Task)
	if in.Memory != "" {
		of = memories.StreamOf(c.Workspace, in.Memory)
	}
	return es.list(only(f.State, names, of), f.Head), nil
}

// OfFile says when a file was erased and by whom, and which tasks with it; "" if none of the erasures that are remembered names it.
func (es *Erasures) OfFile(ctx context.Context, workspace, digest string) (note string, tasks []string, err error) {
	f, err := es.kind.Load(ctx, StreamOf(workspace), true)
	if err != nil {
		return "", nil, err
	}
	for _, e := range slices.Backward(f.State.Erasures) {
		if !slices.Contains(e.Files, digest) {
			continue
		}
		for _, s := range e.Streams {
			if _, kind, id := ledger.Stream(s).Parts(); kind == taskstore.Kind {
				tasks = append(tasks, id)
			}
		}
		return seal.Note(e.At, e.By), tasks, nil
	}
	return "", nil, nil
}

// naming returns the subjects that name a task or a memory item.
func (es *Erasures) naming(ctx context.Context, workspace string, in ListInput) (map[erasure.Subject]bool, error) {
	names := map[erasure.Subject]bool{}
	if in.Memory != "" {
		item, err := es.p.Memories.Load(ctx, memories.StreamOf(workspace, in.Memory), true)
		if err != nil {
			return nil, err
		}
		if item.Head == 0 {
			return nil, refusal.New(refusal.NotFound, "[search for items](memory search) that you may read", "there is no memory item %s", in.Memory)
		}
		return names, es.addItemNames(ctx, workspace, in.Memory, names)
	}
	t, err := es.p.Tasks.Load(ctx, taskstore.StreamOf(workspace, in.Task), true)
	if err != nil {
		return nil, err
	}
	if t.Head == 0 {
		return nil, refusal.New(refusal.NotFound, "check the id; [list tasks](task list) to see those you may see", "there is no task %s", in.Task)
	}
	return names, es.addNames(ctx, workspace, in.Task, false, names)
}

// only returns the holds on subjects, and the erasures of a stream.
func only(s erasure.State, names map[erasure.Subject]bool, of ledger.Stream) (out erasure.State) {
	for _, h := range s.Holds {
		if subject, err := erasure.ParseSubject(h.Subject); err == nil && names[subject] {
			out.Holds = append(out.Holds, h)
		}
	}
	for _, e := range s.Erasures {
		if slices.Contains(e.Streams, string(of)) {
			out.Erasures = append(out.Erasures, e)
		}
	}
	return out
}
