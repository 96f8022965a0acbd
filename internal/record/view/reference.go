package view

import (
	"context"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// ReferenceFilter narrows a list of tasks that refer to something. Zero fields do not.
type ReferenceFilter struct {
	Involving string // as in [TaskFilter]
	After     string // id of the last task of the page before; lists run from the newest id to the oldest
	Limit     int
}

// References says what envelopes refer to that is not on record itself.
type References interface {
	// Referring lists the tasks of which an envelope, the newest or an earlier one, refers to an artifact.
	Referring(ctx context.Context, workspace, digest string, f ReferenceFilter) ([]string, error)
	// Referred reports whether an envelope of any task refers to an artifact, and up to which position that is known:
	// envelopes after it were not looked at. Answer and position are of one moment, whatever happens to the views.
	Referred(ctx context.Context, workspace, digest string) (bool, ledger.Position, error)
}
