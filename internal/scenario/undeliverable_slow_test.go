//go:build slow || outside

package scenario

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func TestAChildThatCannotBeOfferedIsInTheDeadLetters(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "coder")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: strings.Repeat("i", 3000), Start: true})
		in := handoffs.SendInput{Task: r.Task, Epoch: r.Epoch, To: []string{"coder"}, Kind: event.Delegation}
		in.Content.Ask = strings.Repeat("a", 3000)
		in.Content.Data = json.RawMessage(`"` + strings.Repeat("d", 768<<10-2) + `"`)
		// The largest envelope that there can be: the child's, which also says what it is a part of, is larger.
		const tooLarge = 62_000 // for the summary, by a little: each try seals a megabyte
		for size := tooLarge; ; size -= 1000 {
			in.Content.Summary = strings.Repeat("s", size)
			sent, err := call(h.agent("lead"), func(c caller.Caller) (taskstore.Receipt, error) { return h.app.Tasks.Send(ctx(h), c, in) })
			if err == nil {
				if size == tooLarge {
					h.Fatal("a larger envelope would have been taken too: begin with a larger one")
				}
				r = sent
				break
			}
			if refusal.CodeOf(err) != refusal.TooLarge {
				h.Fatal(err)
			}
		}
		h.inState(r.Task, event.Waiting)
		children := func(t taskstore.Task) bool { return t.Children[0].State == event.Parked }
		h.until(r.Task, "the parent of a parked child", children)
	})
}

func TestAFallbackThatWasRemovedDoesNotTakeTheOthersWithIt(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "gone", "backup")
		h.register("coder", agents.AgentSpec{Fallbacks: []string{"gone", "backup"}})
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "fix", Start: true})
		h.send(h.agent("lead"), r, handoffs.SendInput{To: []string{"coder"}})
		item := h.wait("coder")
		ok(h, h.operator(), func(c caller.Caller) (agents.Agent, error) { return h.app.Agents.Remove(ctx(h), c, "gone") })
		r = h.reject("coder", item, event.NotCapable)
		if !slices.Equal(r.To, []string{"backup"}) {
			h.Errorf("after the rejection: %+v", r)
		}
	})
}

func TestChildrenCannotBeAskedForWhatNoEnvelopeCarries(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "coder")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "fix", Start: true})
		for _, e := range []event.Expected{
			{Schema: json.RawMessage(`{"a":1,"a":2}`)}, {Criteria: slices.Repeat([]string{"good"}, 65)}, {Schema: json.RawMessage(`{`)},
		} {
			_, err := call(h.agent("lead"), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Send(ctx(h), c, handoffs.SendInput{Task: r.Task, Epoch: r.Epoch, To: []string{"coder"}, Kind: event.Delegation, Expected: e})
			})
			if code := refusal.CodeOf(err); code != refusal.Invalid && code != refusal.TooLarge {
				h.Errorf("%.40s %d: %v", e.Schema, len(e.Criteria), err)
			}
		}
	})
}

func TestAParentSeesThatAChildHasLeftTheDeadLetters(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "coder")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "fix", Start: true})
		r = h.send(h.agent("lead"), r, handoffs.SendInput{To: []string{"coder"}, Kind: event.Delegation})
		item := h.wait("coder")
		h.reject("coder", item, event.Refused)
		stands := func(s event.State) func(taskstore.Task) bool {
			return func(t taskstore.Task) bool { return len(t.Children) == 1 && t.Children[0].State == s }
		}
		h.until(r.Task, "the parent of a parked child", stands(event.Parked))
		ok(h, h.operator(), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Replay(ctx(h), c, tasks.ReplayInput{Task: r.Children[0], To: []string{"coder"}})
		})
		h.until(r.Task, "the parent of a child at work", stands(event.Pending))
		h.complete("coder", h.accept("coder", h.waitFor("coder", func(i view.Item) bool { return i.ID != item.ID })).Receipt, "done")
		h.inState(r.Task, event.Executing)
	})
}

func TestARefusedSendLeavesTheProbeOfACircuitAlone(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "spy")
		h.register("deaf", agents.AgentSpec{Breaker: agents.Breaker{Failures: 1, OpenFor: event.Duration(time.Minute)}})
		h.fail("opener-1", "deaf")
		h.fail("opener-2", "deaf")
		h.circuit("deaf", agent.Open)
		time.Sleep(61 * time.Second)
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "mine", Start: true})
		ok(h, h.agent("lead"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Share(ctx(h), c, tasks.ShareInput{Task: r.Task, Epoch: r.Epoch, To: "spy"})
		})
		_, err := call(h.agent("spy"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Send(ctx(h), c, handoffs.SendInput{Task: r.Task, Epoch: r.Epoch, To: []string{"deaf"}})
		})
		if err == nil {
			h.Fatal("spy sent a task that is not its own")
		}
		h.settle()
		h.send(h.agent("lead"), r, handoffs.SendInput{To: []string{"deaf"}, Content: envelopes.Content{Data: json.RawMessage(`1`)}})
	})
}
