package sqlview

import (
	"context"

	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/search"
)

// PutVectors implements [view.MemoryVectors].
func (v *Views) PutVectors(ctx context.Context, workspace, space string, list []view.ItemVector) error {
	put := func(tx *sqlitelog.Tx) error { return search.PutVectors(tx, workspace, space, list) }
	if v.follower != nil {
		return v.follower.db.Write(put)
	}
	return v.log.Write(ctx, put)
}
