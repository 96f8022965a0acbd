package erasures

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// List lists the holds and erasures. It is for principals that may read anything.
func (es *Erasures) List(ctx context.Context, c caller.Caller) (ErasureList, error) {
	if err := c.May(identity.ReadAny, "list erasures"); err != nil {
		return ErasureList{}, es.p.Access.Refused(ctx, c.Workspace, c.Actor(), "list-erasures", "", err)
	}
	f, err := es.kind.Load(ctx, StreamOf(c.Workspace), true)
	if err != nil {
		return ErasureList{}, err
	}
	return es.list(f.State, f.Head), nil
}
