package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/custody"
	"github.com/trapezehq/trapeze/internal/fact"
)

// TakeAdvice puts on record what an adviser was asked about a task, and what came of it. It moves nothing, and may be on
// record alone or before the handoff that follows from it.
type TakeAdvice struct {
	Advice fact.AdviceTaken
}

func (c TakeAdvice) decide(t custody.Task, _ time.Time) ([]fact.Event, error) {
	err := firstError(live(t),
		fact.CheckText("what was asked", c.Advice.Prompt, fact.MaxAdvicePrompt), fact.CheckText("the answer", c.Advice.Answer, fact.MaxAdviceAnswer),
		fact.CheckText("the model's name", c.Advice.Model, fact.MaxText), fact.CheckText("the advice's reason", c.Advice.Why, fact.MaxText))
	if err != nil {
		return nil, err
	}
	return []fact.Event{c.Advice}, nil
}
