package sqlview

import (
	"context"

	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/search"
)

// PutVectors implements [view.MemoryVectors].
func (v *Views) PutVectors(ctx context.Context, workspace, space string, list []view.ItemVector) error {
	err := v.write(ctx, func(tx *sqlitelog.Tx) error { return search.PutVectors(tx, workspace, space, list) })
	if err != nil {
		return err
	}
	return v.Sketch(ctx, workspace, space, list)
}

// write runs fn in a transaction of its own.
func (v *Views) write(ctx context.Context, fn func(*sqlitelog.Tx) error) error {
	if v.follower != nil {
		return v.follower.db.Write(fn)
	}
	return v.log.Write(ctx, fn)
}
