package scenario

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/registry"
	"github.com/trapezehq/trapeze/internal/roster"
	"github.com/trapezehq/trapeze/internal/view"
)

func TestAFallbackThatWasRemovedDoesNotTakeTheOthersWithIt(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead", "gone", "backup")
		h.register("coder", roster.AgentSpec{Fallbacks: []string{"gone", "backup"}})
		r := h.create(h.agent("lead"), app.CreateInput{Intent: "fix", Start: true})
		h.send(h.agent("lead"), r, app.SendInput{To: []string{"coder"}})
		item := h.wait("coder")
		ok(h, h.operator(), func(c app.Caller) (roster.Agent, error) { return h.app.RemoveAgent(ctx(h), c, "gone") })
		r = h.reject("coder", item, fact.NotCapable)
		if !slices.Equal(r.To, []string{"backup"}) {
			h.Errorf("after the rejection: %+v", r)
		}
	})
}

// A task that cannot set out must not keep others waiting: everything that crosses tasks goes through one courier.
func TestATaskThatCannotSetOutIsOfferedLaterAndHoldsNobodyUp(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead", "builder", "tester", "other")
		first := h.create(h.agent("lead"), app.CreateInput{Intent: "build", Send: &app.SendInput{To: []string{"builder"}}})
		then := h.create(h.agent("lead"), app.CreateInput{Intent: "test", Dependencies: []string{first.Task}, Route: []string{"tester"}})
		ok(h, h.operator(), func(c app.Caller) (roster.Agent, error) {
			return h.app.SetReadiness(ctx(h), c, roster.ReadinessInput{Name: "tester", Readiness: registry.Offline})
		})
		h.complete("builder", h.accept("builder", h.wait("builder")).Receipt, "built")
		// The courier has more to do.
		p := h.create(h.agent("lead"), app.CreateInput{Intent: "ask", Start: true})
		h.send(h.agent("lead"), p, app.SendInput{To: []string{"other"}, Kind: fact.Delegation})
		start := time.Now()
		h.complete("other", h.accept("other", h.wait("other")).Receipt, "answered")
		h.inState(p.Task, fact.Executing)
		if took := time.Since(start); took > time.Minute {
			h.Errorf("a task whose receiver was offline held others up for %s", took)
		}
		// Its receiver may come back; if not, the dead letters have it.
		h.inState(then.Task, fact.Parked)
	})
}

func TestATaskWhoseRouteNamesNobodyIsParkedWhenItSetsOut(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead", "builder")
		first := h.create(h.agent("lead"), app.CreateInput{Intent: "build", Send: &app.SendInput{To: []string{"builder"}}})
		then := h.create(h.agent("lead"), app.CreateInput{Intent: "test", Dependencies: []string{first.Task}, Route: []string{"nobody"}})
		h.complete("builder", h.accept("builder", h.wait("builder")).Receipt, "built")
		h.inState(then.Task, fact.Parked)
	})
}

func TestAChildThatCannotBeOfferedIsInTheDeadLetters(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead", "coder")
		r := h.create(h.agent("lead"), app.CreateInput{Intent: strings.Repeat("i", 3000), Start: true})
		in := app.SendInput{Task: r.Task, Epoch: r.Epoch, To: []string{"coder"}, Kind: fact.Delegation}
		in.Content.Ask = strings.Repeat("a", 3000)
		in.Content.Data = json.RawMessage(`"` + strings.Repeat("d", 768<<10-2) + `"`)
		// The largest envelope that there can be: the child's, which also says what it is a part of, is larger.
		const tooLarge = 62_000 // for the summary, by a little: each try seals a megabyte
		for size := tooLarge; ; size -= 1000 {
			in.Content.Summary = strings.Repeat("s", size)
			sent, err := call(h.agent("lead"), func(c app.Caller) (docket.Receipt, error) { return h.app.Send(ctx(h), c, in) })
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
		h.inState(r.Task, fact.Waiting)
		children := func(t docket.Task) bool { return t.Children[0].State == fact.Parked }
		h.until(r.Task, "the parent of a parked child", children)
	})
}

func TestChildrenCannotBeAskedForWhatNoEnvelopeCarries(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead", "coder")
		r := h.create(h.agent("lead"), app.CreateInput{Intent: "fix", Start: true})
		for _, e := range []fact.Expected{
			{Schema: json.RawMessage(`{"a":1,"a":2}`)}, {Criteria: slices.Repeat([]string{"good"}, 65)}, {Schema: json.RawMessage(`{`)},
		} {
			_, err := call(h.agent("lead"), func(c app.Caller) (docket.Receipt, error) {
				return h.app.Send(ctx(h), c, app.SendInput{Task: r.Task, Epoch: r.Epoch, To: []string{"coder"}, Kind: fact.Delegation, Expected: e})
			})
			if code := refusal.CodeOf(err); code != refusal.Invalid && code != refusal.TooLarge {
				h.Errorf("%.40s %d: %v", e.Schema, len(e.Criteria), err)
			}
		}
	})
}

func TestAParentSeesThatAChildHasLeftTheDeadLetters(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead", "coder")
		r := h.create(h.agent("lead"), app.CreateInput{Intent: "fix", Start: true})
		r = h.send(h.agent("lead"), r, app.SendInput{To: []string{"coder"}, Kind: fact.Delegation})
		item := h.wait("coder")
		h.reject("coder", item, fact.Refused)
		stands := func(s fact.State) func(docket.Task) bool {
			return func(t docket.Task) bool { return len(t.Children) == 1 && t.Children[0].State == s }
		}
		h.until(r.Task, "the parent of a parked child", stands(fact.Parked))
		ok(h, h.operator(), func(c app.Caller) (docket.Receipt, error) {
			return h.app.Replay(ctx(h), c, app.ReplayInput{Task: r.Children[0], To: []string{"coder"}})
		})
		h.until(r.Task, "the parent of a child at work", stands(fact.Pending))
		h.complete("coder", h.accept("coder", h.waitFor("coder", func(i view.Item) bool { return i.ID != item.ID })).Receipt, "done")
		h.inState(r.Task, fact.Executing)
	})
}

func TestARefusedSendLeavesTheProbeOfACircuitAlone(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead", "spy")
		h.register("deaf", roster.AgentSpec{Breaker: roster.Breaker{Failures: 1, OpenFor: fact.Duration(time.Minute)}})
		h.fail("lead", "deaf")
		h.circuit("deaf", registry.Open)
		time.Sleep(61 * time.Second)
		r := h.create(h.agent("lead"), app.CreateInput{Intent: "mine", Start: true})
		ok(h, h.agent("lead"), func(c app.Caller) (docket.Receipt, error) {
			return h.app.Share(ctx(h), c, app.ShareInput{Task: r.Task, Epoch: r.Epoch, To: "spy"})
		})
		_, err := call(h.agent("spy"), func(c app.Caller) (docket.Receipt, error) {
			return h.app.Send(ctx(h), c, app.SendInput{Task: r.Task, Epoch: r.Epoch, To: []string{"deaf"}})
		})
		if err == nil {
			h.Fatal("spy sent a task that is not its own")
		}
		h.settle()
		h.send(h.agent("lead"), r, app.SendInput{To: []string{"deaf"}, Content: app.Content{Data: json.RawMessage(`1`)}})
	})
}
