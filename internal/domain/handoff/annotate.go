package handoff

import (
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// Annotate corrects or comments on an earlier entry of the task. The entry stays as it is.
type Annotate struct {
	By    identity.Principal
	Entry uint64 // position
	Note  string
}

func (c Annotate) decide(t task.Task, _ time.Time) ([]event.Event, error) {
	if !t.Exists() {
		return nil, authority.RequireLive(t)
	}
	if c.Entry == 0 || strings.TrimSpace(c.Note) == "" {
		return nil, refusal.New(refusal.Invalid, "give the position of the entry and a note", "an annotation needs an entry and a note")
	}
	if err := event.CheckField("note", c.Note); err != nil {
		return nil, err
	}
	return []event.Event{event.Annotated{Entry: c.Entry, By: c.By.Short(), Note: c.Note}}, nil
}
