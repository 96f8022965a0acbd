package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// SeeNotice records that an agent has seen its notice of the end or loss of the task. A repeat changes nothing.
type SeeNotice struct {
	By     identity.Principal
	Notice int
}

func (c SeeNotice) decide(t task.Task, _ time.Time) ([]event.Event, error) {
	n := t.NoticeTo(c.By.Agent())
	switch {
	case n == nil || n.N != c.Notice:
		return nil, refusal.New(refusal.NotFound, "check your inbox", "%s has no notice %.64s", c.By.Short(), event.NoticeID(t.ID, c.Notice))
	case n.Seen:
		return nil, nil
	}
	return []event.Event{event.NoticeSeen{Notice: n.N, Agent: n.Agent}}, nil
}
