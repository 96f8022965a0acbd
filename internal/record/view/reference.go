package view

import (
	"context"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// ReferenceFilter narrows a list of tasks that refer to an artifact. A zero field does not narrow it.
type ReferenceFilter struct {
	Involving string // as in [TaskFilter]
	After     string // id of the last task of the previous page; lists run from the highest id to the lowest
	Limit     int
}

// References tells which artifacts envelopes refer to.
type References interface {
	// ReferringTasks lists the tasks that have an envelope, the newest or an earlier one, that refers to an artifact.
	ReferringTasks(ctx context.Context, workspace, digest string, f ReferenceFilter) ([]string, error)
	// IsReferred reports whether an envelope of any task refers to an artifact, and the position up to which envelopes were
	// examined. Both are of one state of the views.
	IsReferred(ctx context.Context, workspace, digest string) (bool, ledger.Position, error)
}
