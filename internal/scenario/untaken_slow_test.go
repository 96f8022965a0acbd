//go:build slow || outside

package scenario

import (
	"regexp"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func TestAHandoffThatNobodyTakesCostsItsSenderNoContext(t *testing.T) {
	fails := map[string]func(h *harness, r taskstore.Receipt){
		"rejected": func(h *harness, r taskstore.Receipt) { h.reject("bob", h.of(r.Task, "bob"), event.Refused) },
		"withdrawn": func(h *harness, r taskstore.Receipt) {
			ok(h, h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Cancel(ctx(h), c, tasks.CancelInput{ID: r.Handoff, Epoch: r.Epoch})
			})
		},
		"expired": func(h *harness, r taskstore.Receipt) {
			h.until(r.Task, "back home", func(t taskstore.Task) bool {
				return t.State == event.Executing && t.Handoff.Stage == event.Undeliverable
			})
		},
		"replayed home": func(h *harness, r taskstore.Receipt) {
			h.inState(r.Task, event.Parked)
			h.replay(tasks.ReplayInput{Task: r.Task, Home: true})
		},
	}
	for how, fail := range fails {
		t.Run(how, func(t *testing.T) {
			story(t, func(h *harness) {
				h.join("ann", "bob", "cyd")
				for _, kind := range []event.Kind{event.Warm, event.Cold, event.Supervised} {
					r, words := h.untaken(kind, handoffs.SendInput{ReturnHome: how == "expired"})
					fail(h, r)
					if missing := without(h.prompt(h.agent("ann"), r.Task), words); missing != nil {
						h.Errorf("%s: the sender's own content lacks %v", kind, missing)
					}
					if missing := without(h.preview(h.agent("ann"), r.Task), words); missing != nil {
						h.Errorf("%s: the next envelope lacks %v", kind, missing)
					}
					next := h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"cyd"}})
					if missing := without(h.prompt(h.agent("cyd"), next.Handoff), words); missing != nil {
						h.Errorf("%s: the next receiver lacks %v", kind, missing)
					}
					h.accept("cyd", h.of(r.Task, "cyd"))
				}
			})
		})
	}
}

func TestTheLastNotesOfAColdHandoffLeaveItsAsk(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		r, words := h.untaken(event.Cold, handoffs.SendInput{Confirm: event.ConfirmExplicit})
		h.accept("bob", h.of(r.Task, "bob"))
		ok(h, h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Confirm(ctx(h), c, tasks.ConfirmInput{Handoff: r.Handoff, Epoch: r.Epoch, Content: envelopes.Content{Notes: "mind the dog"}})
		})
		p := h.prompt(h.agent("bob"), r.Task)
		if without(p, []string{"look at it", "mind the dog"}) != nil || len(without(p, words)) != len(words) {
			h.Errorf("bob reads\n%s", p)
		}
	})
}

// changing is what differs between two prompts of the same content: ids, times, and that it was replayed.
var changing = regexp.MustCompile(`(?m)^.*replayed it from the dead letters.*\n|h\d+\b|\d{4}-\d\d-\d\d[T ][\d:.]+Z?`)

func TestAReplayedHandoffCarriesWhatTheFirstOneDid(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd")
		for _, kind := range []event.Kind{event.Warm, event.Cold, event.Supervised} {
			for _, to := range [][]string{nil, {"cyd"}} {
				content, _ := everything("new")
				r, _ := h.untaken(kind, handoffs.SendInput{Content: content})
				first := h.prompt(h.operator(), r.Handoff)
				h.share(h.agent("ann"), r, tasks.ShareInput{To: "cyd", Content: envelopes.Content{Ask: "SHARED", State: "SHARED", Notes: "SHARED"}})
				h.inState(r.Task, event.Parked)
				if got := h.prompt(h.operator(), r.Handoff); got != first {
					h.Errorf("%s: the content of the handoff that failed is\n%s\nand was\n%s", kind, got, first)
				}
				again := h.replay(tasks.ReplayInput{Task: r.Task, To: to})
				got := h.task(r.Task).Handoff
				wants := kind
				if to != nil && kind == event.Supervised {
					wants = event.Warm
				}
				if got.Kind != wants || again.Handoff == r.Handoff {
					h.Errorf("%s to %v: replayed as %s", kind, to, got.Kind)
				}
				second := h.prompt(h.operator(), again.Handoff)
				if !strings.Contains(second, "newASK") || !strings.Contains(second, "newNOTES") || strings.Contains(second, "SHARED") {
					h.Errorf("%s to %v: the receiver reads\n%s", kind, to, second)
				}
				if a, b := changing.ReplaceAllString(first, ""), changing.ReplaceAllString(second, ""); to == nil && a != b {
					h.Errorf("%s: first\n%s\nand again\n%s", kind, a, b)
				}
			}
		}
	})
}

func TestAReplayPermitsNoMoreThanTheHandoffThatFailed(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd")
		for _, permits := range [][]string{{"read"}, {}} {
			for _, to := range [][]string{nil, {"cyd"}} {
				r, _ := h.untaken(event.Warm, handoffs.SendInput{Permissions: permits})
				h.inState(r.Task, event.Parked)
				first := h.prompt(h.operator(), r.Handoff)
				second := h.prompt(h.operator(), h.replay(tasks.ReplayInput{Task: r.Task, To: to}).Handoff)
				line := regexp.MustCompile("- Your permissions: (none|`read`)\n")
				if want := line.FindString(first); want == "" || line.FindString(second) != want {
					h.Errorf("with %q, to %v: the receiver reads\n%s\nand was to read\n%s", permits, to, second, first)
				}
			}
		}
	})
}

func TestAnOperatorSetsTheKindOfAReplay(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd")
		r, words := h.untaken(event.Cold, handoffs.SendInput{})
		h.inState(r.Task, event.Parked)
		for _, in := range []tasks.ReplayInput{{Kind: event.Warm, Home: true}, {Kind: event.Delegation}, {Kind: event.Broadcast}} {
			in.Task = r.Task
			_, err := call(h.operator(), func(c caller.Caller) (taskstore.Receipt, error) { return h.app.Tasks.Replay(ctx(h), c, in) })
			must(h, "the kind "+string(in.Kind), err, refusal.Invalid, "omit kind")
		}
		for _, in := range []tasks.ReplayInput{{To: []string{"cyd"}}, {Capability: "any"}} {
			in.Task, in.Home = r.Task, true
			_, err := call(h.operator(), func(c caller.Caller) (taskstore.Receipt, error) { return h.app.Tasks.Replay(ctx(h), c, in) })
			must(h, "home and elsewhere", err, refusal.Invalid, "omit home")
		}
		h.replay(tasks.ReplayInput{Task: r.Task, To: []string{"cyd"}, Kind: event.Warm})
		p := h.acceptPrompt("cyd").Content.Prompt
		if missing := without(p, append(words, "look at it", "on the north side")); missing != nil {
			h.Errorf("warm, it lacks %v:\n%s", missing, p)
		}
		r, words = h.untaken(event.Supervised, handoffs.SendInput{})
		h.inState(r.Task, event.Parked)
		h.replay(tasks.ReplayInput{Task: r.Task, Kind: event.Cold})
		if p := h.acceptPrompt("bob").Content.Prompt; len(without(p, words)) != len(words) || !strings.Contains(p, "look at it") {
			h.Errorf("cold, bob reads\n%s", p)
		}
	})
}
