package sqlview

import (
	"context"

	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/search"
)

// PutVectors implements [view.MemoryVectors].
func (v *Views) PutVectors(ctx context.Context, workspace, space string, list []view.ItemVector) error {
	err := v.write(ctx, func(tx *sqlconn.Tx) error { return search.PutVectors(tx, workspace, space, list) })
	if err != nil {
		return err
	}
	return v.Sketch(ctx, workspace, space, list)
}

// write runs fn in a transaction of its own.
func (v *Views) write(ctx context.Context, fn func(*sqlconn.Tx) error) error {
	if v.follower != nil {
		return v.follower.db.Write(fn)
	}
	return v.log.Write(ctx, fn)
}
