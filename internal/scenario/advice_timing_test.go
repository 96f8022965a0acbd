package scenario

import (
	"context"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

const advisedRules = "version: 1\nrules: [{name: paid, when: {keywords: [invoice]}, then: {to: {agent: bert}}}]\nllm: {endpoint: 'https://model.example/v1', model: m1}\n"

// advisedBy opens a harness with a function as its model.
func advisedBy(t *testing.T, kind string, a advise) *harness {
	t.Helper()
	h := open(t, kind)
	h.join("anna", "bert", "carl")
	h.adopt(advisedRules)
	h.advise.Store(&a)
	return h
}

// toAnna is advice of a model that was asked.
func toAnna() (routing.Advice, error) {
	return routing.Advice{
		HandOff: true, Agent: "anna", Kind: event.Warm, Reason: event.ReasonSpecialization, Why: "she knows refunds",
		Told: routing.Told{Model: "m1", Prompt: "refund order 7", Answer: "anna", Tries: 1},
	}, nil
}

// advice returns the recorded advice about a task.
func (h *harness) advice(task string) (list []event.AdviceTaken) {
	h.Helper()
	for _, e := range h.events(task) {
		if a, is := e.(event.AdviceTaken); is {
			list = append(list, a)
		}
	}
	return list
}

func (h *harness) auto(task string, epoch uint64) (taskstore.Receipt, error) {
	h.Helper()
	return call(h.agent("carl"), func(c caller.Caller) (taskstore.Receipt, error) {
		return h.app.Tasks.Send(ctx(h), c, handoffs.SendInput{Task: task, Epoch: epoch, To: []string{routing.Auto}, Timeouts: event.Timeouts{Offer: event.Duration(time.Minute)}})
	})
}

func TestTheModelsPromptIsRecordedThoughTheCallerHungUp(t *testing.T) {
	hung, cancel := context.WithCancel(t.Context())
	h := advisedBy(t, sound(), func(context.Context, string, []routing.Choice) (routing.Advice, error) {
		cancel()
		return toAnna()
	})
	defer h.stop()
	made := h.create(h.agent("carl"), tasks.CreateInput{Intent: "refund order 7", Start: true})
	_, err := h.app.Tasks.Send(hung, h.agent("carl"), handoffs.SendInput{Task: made.Task, Epoch: made.Epoch, To: []string{routing.Auto}})
	if refusal.CodeOf(err) != refusal.Unavailable {
		t.Errorf("%v", err)
	}
	if list := h.advice(made.Task); len(list) != 1 || list[0].Outcome != event.AdviceRefused || list[0].Prompt == "" {
		t.Errorf("%+v", list)
	}
	if got, err := h.app.Tasks.Show(ctx(h), h.operator(), made.Task); err != nil || got.Owner != "carl" || got.Handoff != nil {
		t.Errorf("%+v, %v", got, err)
	}
}
