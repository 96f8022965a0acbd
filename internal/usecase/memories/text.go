package memories

import (
	"context"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Text returns the text of the version that a reference in an envelope of a task names, or why the caller does not get it: by the rules
// of memory items, where what the task gave to the caller counts. The caller records the read.
func (st *Store) Text(ctx context.Context, c caller.Caller, task string, m envelope.MemoryRef) (text string, why envelope.GapReason, err error) {
	f, err := st.Load(ctx, StreamOf(c.Workspace, m.ID), true)
	if err != nil {
		return "", "", err
	}
	ref := memory.Reference{ID: m.ID, Version: m.Version, Digest: m.Digest}
	v, status := memory.Resolve(f.State, ref)
	switch status {
	case memory.Missing:
		return "", envelope.GapNotFound, nil
	case memory.Forgotten:
		return "", envelope.GapForgotten, nil
	case memory.Current, memory.Changed:
	}
	r, _, err := st.readerOf(ctx, c, f.State, task)
	if err != nil {
		return "", "", err
	}
	if !memory.MayReadVersion(f.State, r, v.Number) {
		return "", envelope.GapNotReadable, nil
	}
	return v.Text, "", nil
}
