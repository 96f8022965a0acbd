package envelopes

import (
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Envelopes is the use cases of reading envelopes. Its methods are safe for many goroutines.
type Envelopes struct {
	sealer *Sealer
	tasks  *taskstore.Store
	access *access.Log
	majors envelope.Converter
	now    func() time.Time
}

// New returns the use cases of the envelopes that a sealer makes.
func New(s *Sealer, tasks *taskstore.Store, log *access.Log, majors envelope.Converter, now func() time.Time) *Envelopes {
	return &Envelopes{sealer: s, tasks: tasks, access: log, majors: majors, now: now}
}
