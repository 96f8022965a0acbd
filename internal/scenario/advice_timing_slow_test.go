//go:build slow || outside

package scenario

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func TestAnOfferThatASlowModelAdvisesHasAllItsTime(t *testing.T) {
	for _, kind := range ledgers {
		t.Run(kind, func(t *testing.T) {
			var h *harness
			h = advisedBy(t, kind, func(context.Context, string, []routing.Choice) (routing.Advice, error) {
				h.skew.Add(int64(10 * time.Minute))
				return toAnna()
			})
			defer h.stop()
			r := h.create(h.agent("carl"), tasks.CreateInput{Intent: "refund order 7", Start: true})
			asked := h.now()
			r, err := h.auto(r.Task, r.Epoch)
			if err != nil || !slices.Equal(r.To, []string{"anna"}) {
				t.Fatalf("%+v, %v", r, err)
			}
			read := func(c caller.Caller) (taskstore.Task, error) { return h.app.Tasks.Show(ctx(h), c, r.Task) }
			got := ok(h, h.operator(), read)
			if got.Handoff.OfferEnds.Sub(asked) < 10*time.Minute+30*time.Second {
				t.Errorf("the offer ends %s after the model was asked", got.Handoff.OfferEnds.Sub(asked))
			}
			if list := h.advice(r.Task); len(list) != 1 || list[0].Outcome != event.AdvisedHandOff {
				t.Errorf("%+v", list)
			}
			send := &handoffs.SendInput{To: []string{routing.Auto}, Timeouts: event.Timeouts{Offer: event.Duration(time.Minute)}}
			asked = h.now()
			r = h.create(h.agent("carl"), tasks.CreateInput{Intent: "refund order 8", Send: send})
			if got = ok(h, h.operator(), read); got.Handoff.OfferEnds.Sub(asked) < 10*time.Minute+30*time.Second || got.Created.Sub(asked) < 10*time.Minute {
				t.Errorf("a new task: %+v", got.Handoff)
			}
		})
	}
}

func TestWhatChangesWhileTheModelThinksCounts(t *testing.T) {
	for _, c := range []struct {
		name    string
		happens func(h *harness, task string)
		to      []string
		code    refusal.Code
		why     string
	}{
		{"who was chosen is gone", func(h *harness, _ string) { h.ready("anna", agent.Offline) }, nil, "", "not among the choices"},
		{"a rule matches now", func(h *harness, _ string) {
			h.adopt(strings.Replace(advisedRules, "keywords: [invoice]", "keywords: [refund]", 1))
		}, []string{"bert"}, "", "the rule paid matched"},
		{"the policy names no model any more", func(h *harness, _ string) {
			text, _, _ := strings.Cut(advisedRules, "llm:")
			h.adopt(text)
		}, nil, "", "no adviser is configured"},
		{"its holder has handed it on", func(h *harness, task string) {
			ok(h, h.agent("carl"), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Send(ctx(h), c, handoffs.SendInput{Task: task, Epoch: 1, To: []string{"bert"}})
			})
		}, nil, refusal.Conflict, "under way"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var h *harness
			var task string
			h = advisedBy(t, sound(), func(context.Context, string, []routing.Choice) (routing.Advice, error) {
				c.happens(h, task)
				h.settle()
				return toAnna()
			})
			defer h.stop()
			made := h.create(h.agent("carl"), tasks.CreateInput{Intent: "refund order 7", Start: true})
			task = made.Task
			r, err := h.auto(task, made.Epoch)
			if refusal.CodeOf(err) != c.code || err == nil && !slices.Equal(r.To, c.to) {
				t.Fatalf("%+v, %v", r, err)
			}
			list := h.advice(task)
			if len(list) != 1 || list[0].Outcome != event.AdviceRefused || !strings.Contains(list[0].Why, c.why) || list[0].To.Agent != "anna" {
				t.Errorf("%+v", list)
			}
		})
	}
}

func TestAModelThatWasNotAskedIsNotRecorded(t *testing.T) {
	h := advisedBy(t, sound(), func(context.Context, string, []routing.Choice) (routing.Advice, error) {
		return routing.Advice{Told: routing.Told{Model: "m1", Prompt: "never sent"}}, refusal.New(refusal.Unavailable, "wait", "the model is left alone")
	})
	defer h.stop()
	made := h.create(h.agent("carl"), tasks.CreateInput{Intent: "refund order 7", Start: true})
	r, err := h.auto(made.Task, made.Epoch)
	if err != nil || r.Decision.Action != event.ActionKeep || !strings.Contains(strings.Join(r.Decision.Why, "; "), "left alone") || !slices.Equal(r.Events, []string{"task-kept"}) {
		t.Errorf("%+v, %v", r, err)
	}
	if list := h.advice(made.Task); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	if _, err := h.app.Policies.Route(ctx(h), h.agent("carl"), policies.RouteInput{Task: made.Task, AskLLM: true}); err != nil || len(h.advice(made.Task)) != 0 {
		t.Errorf("%v, %+v", err, h.advice(made.Task))
	}
}

func TestAnOperatorsCallsToAutoAreAdvisedToo(t *testing.T) {
	var by []string
	h := advisedBy(t, sound(), func(_ context.Context, who string, _ []routing.Choice) (routing.Advice, error) {
		by = append(by, who)
		return toAnna()
	})
	defer h.stop()
	made := h.create(h.agent("carl"), tasks.CreateInput{Intent: "refund order 7", Start: true})
	r := ok(h, h.operator(), func(c caller.Caller) (taskstore.Receipt, error) {
		return h.app.Tasks.Takeover(ctx(h), c, tasks.TakeoverInput{Task: made.Task, To: routing.Auto})
	})
	if !slices.Equal(r.To, []string{"anna"}) || r.Decision == nil || r.Decision.Rule != event.AdviceRule || !slices.Equal(by, []string{"operator/ann"}) {
		t.Errorf("%+v by %v", r, by)
	}
}

func TestAFanInThatCountsForNothingIsSaidSo(t *testing.T) {
	h := open(t, sound())
	defer h.stop()
	h.join("carl")
	made := h.create(h.agent("carl"), tasks.CreateInput{Intent: "refund order 7", Start: true})
	r := h.send(h.agent("carl"), made, handoffs.SendInput{To: []string{routing.Auto}, FanIn: event.FanIn{Mode: event.FanInAll}})
	if r.Decision.Action != event.ActionKeep || !strings.Contains(strings.Join(r.Decision.Why, "; "), "fan-in counts for nothing") {
		t.Errorf("%+v", r.Decision)
	}
}
