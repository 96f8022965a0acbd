package figures

import (
	"time"

	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/figure"
)

// Source counts the record.
type Source interface {
	// Ready reports whether the figures are complete.
	Ready() bool
	// Recent returns the handoffs of a workspace that ended at or after a time, the oldest first, and the time since which the list is
	// complete.
	Recent(workspace string, since time.Time) (list []figure.Handoff, complete time.Time)
}

// Figures is the use cases of figures. Its methods are safe for many goroutines.
type Figures struct {
	source Source
	access *access.Log
	now    func() time.Time
}

// New returns the use cases. Without a source, all calls are refused.
func New(source Source, log *access.Log, now func() time.Time) *Figures {
	return &Figures{source: source, access: log, now: now}
}
