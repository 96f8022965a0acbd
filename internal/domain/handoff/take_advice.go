package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// TakeAdvice records what a language model was asked about a task, and its answer. It changes nothing else; the handoff
// that follows from it, if any, is another command.
type TakeAdvice struct {
	Advice event.AdviceTaken
}

func (c TakeAdvice) decide(t task.Task, _ time.Time) ([]event.Event, error) {
	err := firstError(authority.RequireLive(t),
		event.CheckText("what was asked", c.Advice.Prompt, event.MaxAdvicePrompt), event.CheckText("the answer", c.Advice.Answer, event.MaxAdviceAnswer),
		event.CheckText("the model's name", c.Advice.Model, event.MaxText), event.CheckText("the advice's reason", c.Advice.Why, event.MaxText))
	if err != nil {
		return nil, err
	}
	return []event.Event{c.Advice}, nil
}
