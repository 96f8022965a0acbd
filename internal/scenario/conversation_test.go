package scenario

import (
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/conversations"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

func (h *harness) say(by caller.Caller, id string, in conversations.AppendTurnInput) conversations.Said {
	h.Helper()
	in.Conversation = id
	if in.Role == "" {
		in.Role = conversation.Assistant
	}
	return ok(h, by, func(c caller.Caller) (conversations.Said, error) {
		return h.app.Conversations.AppendTurn(ctx(h), c, in)
	})
}

func (h *harness) hears(by caller.Caller, id string) (conversations.Conversation, error) {
	return call(by, func(c caller.Caller) (conversations.Conversation, error) {
		return h.app.Conversations.Show(ctx(h), c, conversations.ConversationInput{ID: id})
	})
}

// noAccess checks that an agent cannot read a conversation.
func (h *harness) deaf(by caller.Caller, id string) {
	h.Helper()
	if got, err := h.hears(by, id); refusal.CodeOf(err) != refusal.NotFound {
		h.Errorf("%s hears %+v, %v", by.Principal, got, err)
	}
	if _, err := call(by, func(c caller.Caller) (conversations.Continuity, error) {
		return h.app.Conversations.Continuity(ctx(h), c, conversations.ContinuityInput{ID: id})
	}); refusal.CodeOf(err) != refusal.NotFound {
		h.Errorf("%s gets its continuity: %v", by.Principal, err)
	}
	before, _ := h.hears(h.operator(), id)
	_, err := call(by, func(c caller.Caller) (conversations.Said, error) {
		return h.app.Conversations.AppendTurn(ctx(h), c, conversations.AppendTurnInput{Conversation: id, Role: conversation.Assistant, Text: "me too"})
	})
	if after, _ := h.hears(h.operator(), id); after.Count != before.Count || refusal.CodeOf(err) != refusal.NotFound {
		h.Errorf("%s adds to it: %v, %+v", by.Principal, err, after)
	}
}

func TestAConversationGoesOnAcrossThreeAgents(t *testing.T) {
	story(t, func(h *harness) {
		h.join("scout", "planner", "migrator", "spy")
		h.say(h.agent("scout"), "orders", conversations.AppendTurnInput{Role: conversation.User, Text: "Split the orders table."})
		h.say(h.agent("scout"), "orders", conversations.AppendTurnInput{Text: "It grows by four percent a week."})
		r := h.create(h.agent("scout"), tasks.CreateInput{Intent: "split the orders table", Start: true, Conversation: "orders"})
		h.deaf(h.agent("planner"), "orders~scout")
		h.send(h.agent("scout"), r, handoffs.SendInput{To: []string{"planner"}, Reason: event.ReasonSpecialization, Detail: "needs a plan"})
		h.deaf(h.agent("planner"), "orders~scout") // only offered
		a := h.accept("planner", h.wait("planner"))
		doc := sheetOf(h, a.Content)
		for _, want := range []string{"scout (2)", "Split the orders table.", "four percent"} {
			if !strings.Contains(doc.ConversationSummary, want) {
				h.Errorf("the envelope's summary lacks %q:\n%s", want, doc.ConversationSummary)
			}
		}
		h.say(h.agent("planner"), "orders", conversations.AppendTurnInput{Text: "Hash of region and month.", Handoff: a.Handoff})
		h.send(h.agent("planner"), a.Receipt, handoffs.SendInput{To: []string{"migrator"}, Detail: "just do it", Content: envelopes.Content{Decisions: []envelopes.Point{{Text: "hash"}}}})
		b := h.accept("migrator", h.wait("migrator"))
		summary := sheetOf(h, b.Content).ConversationSummary
		h.settle()
		text := ok(h, h.agent("migrator"), func(c caller.Caller) (conversations.Continuity, error) {
			return h.app.Conversations.Continuity(ctx(h), c, conversations.ContinuityInput{ID: "orders~scout"})
		}).Text
		for _, want := range []string{"scout (2), planner (1)", "Handed over: scout -> planner", "Split the orders table.", "Hash of region"} {
			if !strings.Contains(text, want) || !strings.Contains(summary, want) {
				h.Errorf("%q is not in the continuity text\n%s\nor not in the envelope's summary\n%s", want, text, summary)
			}
		}
		if !strings.Contains(text, "Handed over: planner -> migrator (user_request: just do it)") {
			h.Errorf("the last change of hands is missing:\n%s", text)
		}
		h.say(h.agent("migrator"), "orders~scout", conversations.AppendTurnInput{Role: conversation.Tool, Text: "42 shards"})
		got, err := h.hears(h.agent("scout"), "orders")
		if err != nil || got.Count != 4 || len(got.Turns) != 4 || got.Turns[3].Agent != "migrator" || !slices.Equal(got.Handoffs, []string{a.Handoff}) {
			h.Errorf("scout hears %+v, %v", got, err)
		}
		h.complete("migrator", b.Receipt, "done")
		h.deaf(h.agent("spy"), "orders~scout")
		if got, err := h.hears(h.agent("migrator"), "orders~scout"); err != nil || got.Count != 4 {
			h.Errorf("the author of a turn cannot read on: %+v, %v", got, err)
		}
	})
}

func TestNamingAConversationInATaskGivesNobodyAPart(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "spy", "friend")
		h.create(h.agent("spy"), tasks.CreateInput{Intent: "listen", Start: true, Conversation: "plans"}) // before it has begun
		h.say(h.agent("ann"), "plans", conversations.AppendTurnInput{Text: secret})
		r := h.create(h.agent("spy"), tasks.CreateInput{Intent: "listen", Start: true, Conversation: "plans"})
		h.deaf(h.agent("spy"), "plans~ann")
		h.send(h.agent("spy"), r, handoffs.SendInput{To: []string{"friend"}})
		a := h.accept("friend", h.wait("friend"))
		if strings.Contains(string(a.Content.Envelope), secret) {
			h.Errorf("the envelope has %s", a.Content.Envelope)
		}
		h.say(h.agent("friend"), "plans~spy", conversations.AppendTurnInput{Text: "me too", Task: r.Task}) // in that of the spy
		_, err := call(h.agent("spy"), func(c caller.Caller) (conversations.Said, error) {
			return h.app.Conversations.AppendTurn(ctx(h), c, conversations.AppendTurnInput{Conversation: "plans", Role: conversation.User, Text: "x", Task: r.Task})
		})
		if got, gone := h.hears(h.agent("ann"), "plans"); err != nil || gone != nil || got.Count != 1 || len(got.Tasks) > 0 {
			h.Errorf("spy ties its task to the conversation: %v, %+v", err, got)
		}
		h.settle()
		for _, name := range []string{"spy", "friend"} {
			for _, text := range []string{"", secret} {
				if list := ok(h, h.agent(name), func(c caller.Caller) (conversations.ConversationList, error) {
					return h.app.Conversations.List(ctx(h), c, conversations.ConversationsInput{Text: text})
				}); slices.ContainsFunc(list.Conversations, func(c conversations.Conversation) bool { return c.Speakers[0].Agent == "ann" }) {
					h.Errorf("%s lists %+v", name, list)
				}
			}
			if got, err := h.hears(h.agent(name), "plans~spy"); err == nil && slices.ContainsFunc(got.Turns, func(t conversation.Turn) bool { return t.Text == secret }) {
				h.Errorf("%s hears %+v", name, got)
			}
		}
	})
}

func TestWhatCannotBeSaidIsRefused(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "x", Start: true})
		h.say(h.agent("ann"), "c", conversations.AppendTurnInput{Text: "hello\x00 \u202e"})
		away := h.agent("ann")
		away.Workspace = "elsewhere"
		for name, c := range map[string]struct {
			by   caller.Caller
			in   conversations.AppendTurnInput
			code refusal.Code
		}{
			"too long":           {h.agent("ann"), conversations.AppendTurnInput{Conversation: "c", Role: "user", Text: strings.Repeat("x", conversation.MaxText+1)}, refusal.TooLarge},
			"nothing":            {h.agent("ann"), conversations.AppendTurnInput{Conversation: "c", Role: "user", Text: "\n"}, refusal.Invalid},
			"not UTF-8":          {h.agent("ann"), conversations.AppendTurnInput{Conversation: "c", Role: "user", Text: "\xff"}, refusal.Invalid},
			"no role":            {h.agent("ann"), conversations.AppendTurnInput{Conversation: "c", Text: "x"}, refusal.Invalid},
			"no conversation":    {h.agent("ann"), conversations.AppendTurnInput{Conversation: "../c\x00", Role: "user", Text: "x"}, refusal.Invalid},
			"in another's name":  {h.agent("ann"), conversations.AppendTurnInput{Conversation: "c", Role: "user", Text: "x", Agent: "bob"}, refusal.NotPermitted},
			"another's task":     {h.agent("bob"), conversations.AppendTurnInput{Conversation: "d", Role: "user", Text: "x", Task: r.Task}, refusal.NotFound},
			"as an operator":     {h.operator(), conversations.AppendTurnInput{Conversation: "c~ann", Role: "user", Text: "x"}, refusal.Invalid},
			"without a token":    {caller.Caller{}, conversations.AppendTurnInput{Conversation: "c", Role: "user", Text: "x"}, refusal.Unauthenticated},
			"by who has no part": {h.agent("bob"), conversations.AppendTurnInput{Conversation: "c", Role: "user", Text: "x"}, ""}, // which begins another
		} {
			_, err := call(c.by, func(by caller.Caller) (conversations.Said, error) {
				return h.app.Conversations.AppendTurn(ctx(h), by, c.in)
			})
			if code := refusal.CodeOf(err); code != c.code {
				h.Errorf("%s: %v, want %s", name, err, c.code)
			}
		}
		h.say(away, "c", conversations.AppendTurnInput{Text: "another conversation of that name"})
		got, err := h.hears(h.agent("ann"), "c")
		if err != nil || got.Count != 1 || got.Turns[0].Text != "hello\x00 \u202e" {
			h.Errorf("%+v, %v", got, err)
		}
	})
}
