package memories

import (
	"context"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/memory"
)

// Text returns the text of the version that a reference names, for a reader that an envelope gives it to; false if it was forgotten
// or is not there.
func (st *Store) Text(ctx context.Context, workspace string, m envelope.MemoryRef) (string, bool, error) {
	f, err := st.Load(ctx, StreamOf(workspace, m.ID), true)
	if err != nil {
		return "", false, err
	}
	v, status := memory.Resolve(f.State, memory.Reference{ID: m.ID, Version: m.Version, Digest: m.Digest})
	return v.Text, status == memory.Current || status == memory.Changed, nil
}
