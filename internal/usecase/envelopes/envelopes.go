package envelopes

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/quota"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Envelopes is the use cases of reading envelopes. Its methods are safe for many goroutines.
type Envelopes struct {
	sealer *Sealer
	tasks  *taskstore.Store
	access *access.Log
	majors envelope.Converter
	now    func() time.Time
	work   *quota.Work
	stops  Foresight
}

// Foresight says what would stop the handoff that is previewed, as far as it is known; "" if nothing would.
type Foresight func(context.Context, caller.Caller, task.Task, PreviewInput, time.Time) (string, error)

// New returns the use cases of the envelopes that a sealer makes. work bounds the previews of each principal.
func New(s *Sealer, tasks *taskstore.Store, log *access.Log, majors envelope.Converter, now func() time.Time, work *quota.Work, stops Foresight) *Envelopes {
	return &Envelopes{sealer: s, tasks: tasks, access: log, majors: majors, now: now, work: work, stops: stops}
}
