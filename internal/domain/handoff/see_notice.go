package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// SeeNotice records that an agent has seen its notice of the end or loss of the task. A repeat changes nothing.
type SeeNotice struct {
	By     identity.Principal
	Notice int
}

func (c SeeNotice) decide(t task.Task, _ time.Time) ([]event.Event, error) {
	return t.Notices.See(c.By.Short(), c.Notice)
}
