package scenario

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Untaken: a handoff that nobody takes, in each way that it can fail.

// everything is content with a word of its own in each field.
func everything(prefix string) (envelopes.Content, []string) {
	sure := 0.5
	c := envelopes.Content{
		Ask: prefix + "ASK", State: prefix + "STATE", Summary: prefix + "SUMMARY", Notes: prefix + "NOTES", Questions: []string{prefix + "QUESTION"},
		Facts:     []envelopes.Point{{ID: prefix + "f1", Text: prefix + "PINNED", Pinned: true}, {ID: prefix + "f2", Text: prefix + "FACT"}},
		Decisions: []envelopes.Point{{ID: prefix + "d1", Text: prefix + "DECISION"}}, Steps: []envelopes.Step{{Action: "did", Detail: prefix + "STEP"}},
		Data: json.RawMessage(`{"key":"` + prefix + `DATA"}`), Confidence: &sure,
	}
	words := []string{"STATE", "SUMMARY", "QUESTION", "PINNED", "FACT", "DECISION", "STEP", "DATA"}
	for i := range words {
		words[i] = prefix + words[i]
	}
	return c, words
}

// without names the words that a text does not have.
func without(text string, words []string) (missing []string) {
	for _, w := range words {
		if !strings.Contains(text, w) {
			missing = append(missing, w)
		}
	}
	return missing
}

// untaken is a task of ann's that she hands to bob, in vain so far.
func (h *harness) untaken(kind event.Kind, in handoffs.SendInput) (r taskstore.Receipt, words []string) {
	h.Helper()
	own, words := everything("own")
	r = h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix the roof", Start: true, Content: own})
	in.To, in.Kind = []string{"bob"}, kind
	if in.Content.IsZero() {
		in.Content = envelopes.Content{Ask: "look at it", Notes: "on the north side"}
	}
	in = lost(in)
	r = h.send(h.agent("ann"), r, in)
	if kind == event.Supervised {
		ok(h, h.as(identity.Operator, "eva"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Approve(ctx(h), c, tasks.ApproveInput{ID: r.Handoff})
		})
	}
	return r, words
}

// prompt is what a caller reads of a task, a handoff or a share.
func (h *harness) prompt(by caller.Caller, id string) string {
	h.Helper()
	return h.content(by, envelopes.ContentInput{ID: id, Render: true}).Prompt
}

func (h *harness) preview(by caller.Caller, task string) string {
	h.Helper()
	return ok(h, by, func(c caller.Caller) (tasks.Preview, error) {
		return h.app.Tasks.Preview(ctx(h), c, tasks.PreviewInput{Task: task})
	}).Prompt
}

func TestOnlyTheReceiverOfAColdHandoffLacksTheContext(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd", "dan")
		r, words := h.untaken(event.Cold, handoffs.SendInput{})
		if missing := without(h.preview(h.agent("ann"), r.Task), words); missing != nil {
			h.Errorf("while it is offered, the sender's next envelope lacks %v", missing)
		}
		share := h.share(h.agent("ann"), r, tasks.ShareInput{To: "dan"})
		if missing := without(h.prompt(h.agent("dan"), share.Share), words); missing != nil {
			h.Errorf("what is shared meanwhile lacks %v", missing)
		}
		got := h.acceptPrompt("bob")
		if p := got.Content.Prompt; !strings.Contains(p, "look at it") || len(without(p, words)) != len(words) {
			h.Errorf("bob reads\n%s", p)
		}
		h.send(h.agent("bob"), got.Receipt, handoffs.SendInput{To: []string{"cyd"}})
		if p := h.acceptPrompt("cyd").Content.Prompt; len(without(p, words)) != len(words) {
			h.Errorf("bob passes on what bob was not given:\n%s", p)
		}
	})
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
