package conversation_test

import (
	"encoding/json"
	"flag"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
)

const (
	task  = "task_00000000000000000000000001"
	other = "task_00000000000000000000000002"
)

var (
	update = flag.Bool("update", false, "write the frozen events again; only for events that were never released")

	noon     = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	writer   = memory.Reader{Principal: identity.Principal{Role: identity.Agent, Name: "writer"}, Tasks: []string{task}}
	reviewer = memory.Reader{Principal: identity.Principal{Role: identity.Agent, Name: "reviewer"}, Tasks: []string{task}}
	stranger = memory.Reader{Principal: identity.Principal{Role: identity.Agent, Name: "stranger"}, Tasks: []string{other}}
	auditor  = memory.Reader{Principal: identity.Principal{Role: identity.Auditor, Name: "ann"}}
	operator = memory.Reader{Principal: identity.Principal{Role: identity.Operator, Name: "olga"}}
)

func turn(by memory.Reader, text string) conversation.AppendTurn {
	return conversation.AppendTurn{By: by, Conversation: "c1", Role: conversation.Assistant, Text: text, Holds: len(by.Tasks)+len(by.Conversations) > 0}
}

// speakers are those of turns.
func speakers(turns []conversation.Turn) []conversation.Speaker {
	var s conversation.State
	for _, t := range turns {
		s = conversation.Fold(s, conversation.TurnAppended{Conversation: "c1", Turn: t})
	}
	return s.Speakers
}

// talk is a conversation after some turns.
func talk(t *testing.T, turns ...conversation.AppendTurn) (s conversation.State) {
	t.Helper()
	for n, c := range turns {
		events, err := conversation.Decide(s, c, noon.Add(time.Duration(n)*time.Minute))
		if err != nil || len(events) != 1 {
			t.Fatalf("%+v: %v, %v", c, events, err)
		}
		s = conversation.Fold(s, events[0])
	}
	return s
}

func refused(t *testing.T, s conversation.State, c conversation.AppendTurn, code refusal.Code) {
	t.Helper()
	events, err := conversation.Decide(s, c, noon)
	if r, ok := refusal.As(err); !ok || r.Code != code || len(events) != 0 {
		t.Errorf("%+.200v: events %v, error %v, want a refusal %s", c, events, err, code)
	}
}

func TestAConversationGoesOnAcrossAHandoff(t *testing.T) {
	ask := turn(writer, "Please document the module.")
	ask.Role, ask.Task = conversation.User, task
	answer := turn(reviewer, "Two links are broken.")
	answer.Handoff = task + ".h1"
	s := talk(t, ask, turn(writer, "Done: 3 pages."), answer)

	if s.ID != "c1" || s.Turns != 3 || s.Request != 1 || s.Bytes != len(ask.Text)+len("Done: 3 pages.")+len(answer.Text) ||
		!s.CreatedAt.Equal(noon) || !s.UpdatedAt.Equal(noon.Add(2*time.Minute)) {
		t.Errorf("%+v", s)
	}
	if !reflect.DeepEqual(s.Speakers, []conversation.Speaker{{Agent: "writer", Turns: 2}, {Agent: "reviewer", Turns: 1}}) ||
		!reflect.DeepEqual(s.Tasks, []string{task}) || !reflect.DeepEqual(s.Handoffs, []string{task + ".h1"}) {
		t.Errorf("%+v", s)
	}
}

func TestTheFirstRequestIsTheFirstTurnOfAUser(t *testing.T) {
	ask := turn(writer, "please")
	ask.Role = conversation.User
	if s := talk(t, turn(writer, "hello")); s.Request != 0 {
		t.Errorf("%+v", s)
	}
	if s := talk(t, turn(writer, "hello"), ask, ask); s.Request != 2 {
		t.Errorf("%+v", s)
	}
}

func TestATaskCarriesAConversationOnlyForThoseWhoHaveSpokenInIt(t *testing.T) {
	s := talk(t, turn(writer, "hello"))
	for requester, want := range map[string]bool{"agent/writer": true, "agent/stranger": false, "operator/olga": true} {
		if got := conversation.Carries(s, requester); got != want {
			t.Errorf("a task of %s: %v", requester, got)
		}
	}
	if conversation.Carries(conversation.State{}, "agent/writer") {
		t.Error("what has not begun is carried along")
	}
	heir := memory.Reader{Principal: identity.Principal{Role: identity.Agent, Name: "heir"}, Conversations: []string{"c1"}}
	if !conversation.MayRead(s, heir) {
		t.Error("who holds a task that carries it may not read it")
	}
	if _, err := conversation.Decide(s, turn(heir, "I go on"), noon); err != nil {
		t.Error(err)
	}
	if heir.Conversations[0] = "c2"; conversation.MayRead(s, heir) {
		t.Error("another conversation is carried")
	}
}

func TestWhoMayReadAndAddToAConversation(t *testing.T) {
	first := turn(writer, "hello")
	first.Task = task
	s := talk(t, first)
	left := memory.Reader{Principal: identity.Principal{Role: identity.Agent, Name: "writer"}}
	for _, c := range []struct {
		r                memory.Reader
		mayRead, mayJoin bool
	}{
		{writer, true, true},
		{left, true, true},
		{reviewer, true, true},
		{stranger, false, false},
		{auditor, true, false},
		{operator, true, true},
		{memory.Reader{}, false, false},
	} {
		if got := conversation.MayRead(s, c.r); got != c.mayRead {
			t.Errorf("%s may read: %v", c.r.Principal, got)
		}
		a := turn(c.r, "and so on")
		if !c.r.IsZero() && c.r.Agent() == "" {
			a.Agent = "writer"
		}
		if _, err := conversation.Decide(s, a, noon); (err == nil) != c.mayJoin {
			t.Errorf("%s adds: %v", c.r.Principal, err)
		}
	}
	former := turn(reviewer, "and so on") // or an approver: it reads for a time
	former.Holds = false
	refused(t, s, former, refusal.NotPermitted)
	if conversation.MayRead(conversation.State{}, operator) {
		t.Error("what has not begun can be read")
	}
}

func TestATurnThatBreaksARuleIsRefused(t *testing.T) {
	s := talk(t, turn(writer, "hello"))
	for name, c := range map[string]struct {
		code   refusal.Code
		change func(*conversation.AppendTurn)
	}{
		"in another's name":      {refusal.NotPermitted, func(a *conversation.AppendTurn) { a.Agent = "reviewer" }},
		"nobody":                 {refusal.Unauthenticated, func(a *conversation.AppendTurn) { a.By = memory.Reader{} }},
		"another conversation":   {refusal.Invalid, func(a *conversation.AppendTurn) { a.Conversation = "c2" }},
		"too long":               {refusal.TooLarge, func(a *conversation.AppendTurn) { a.Text = strings.Repeat("x", conversation.MaxText+1) }},
		"empty":                  {refusal.Invalid, func(a *conversation.AppendTurn) { a.Text = "\n" }},
		"not UTF-8":              {refusal.Invalid, func(a *conversation.AppendTurn) { a.Text = "\xff" }},
		"an unknown role":        {refusal.Invalid, func(a *conversation.AppendTurn) { a.Role = "boss" }},
		"somebody else's task":   {refusal.NotFound, func(a *conversation.AppendTurn) { a.Task = other }},
		"no task id":             {refusal.Invalid, func(a *conversation.AppendTurn) { a.Task = "t" }},
		"no handoff id":          {refusal.Invalid, func(a *conversation.AppendTurn) { a.Handoff = "h1" }},
		"another task's handoff": {refusal.Invalid, func(a *conversation.AppendTurn) { a.Task, a.Handoff = task, other+".h1" }},
		"an operator as nobody":  {refusal.Invalid, func(a *conversation.AppendTurn) { a.By = operator }},
	} {
		t.Run(name, func(t *testing.T) {
			a := turn(writer, "more")
			c.change(&a)
			refused(t, s, a, c.code)
		})
	}
	refused(t, conversation.State{}, conversation.AppendTurn{By: writer, Conversation: "../c", Role: conversation.User, Text: "x"}, refusal.Invalid)
	refused(t, conversation.State{}, conversation.AppendTurn{By: auditor, Conversation: "c", Agent: "writer", Role: conversation.User, Text: "x"}, refusal.NotPermitted)
}

func TestAFullConversationSaysHowToGoOn(t *testing.T) {
	var s conversation.State
	for n := range conversation.MaxTurns {
		s = conversation.Fold(s, conversation.TurnAppended{Conversation: "c1", Turn: conversation.Turn{N: n + 1, Agent: "writer", Role: conversation.User, Text: "x"}})
	}
	refused(t, s, turn(writer, "x"), refusal.Limit)

	s = conversation.State{}
	big := strings.Repeat("x", conversation.MaxText)
	for n := range conversation.MaxBytes / conversation.MaxText {
		s = conversation.Fold(s, conversation.TurnAppended{Conversation: "c1", Turn: conversation.Turn{N: n + 1, Agent: "writer", Role: conversation.User, Text: big}})
	}
	refused(t, s, turn(writer, "x"), refusal.Limit)
}

func TestTwoFuturesOfOneStateDoNotDisturbEachOther(t *testing.T) {
	s := talk(t, turn(writer, "one"), turn(writer, "two"))
	s = conversation.Fold(s, conversation.TurnAppended{Conversation: "c1", Turn: conversation.Turn{N: 3, Agent: "third"}})
	left := conversation.Fold(s, conversation.TurnAppended{Conversation: "c1", Turn: conversation.Turn{N: 3, Agent: "left", Text: "left"}})
	right := conversation.Fold(s, conversation.TurnAppended{Conversation: "c1", Turn: conversation.Turn{N: 3, Agent: "right", Text: "right"}})
	again := conversation.Fold(s, conversation.TurnAppended{Conversation: "c1", Turn: conversation.Turn{N: 4, Agent: "writer"}})
	if left.Speakers[2].Agent != "left" || right.Speakers[2].Agent != "right" || again.Speakers[0].Turns != 3 || s.Speakers[0].Turns != 2 || s.Turns != 3 {
		t.Errorf("%+v\n%+v\n%+v\n%+v", s, left, right, again)
	}
}

func TestTheContinuityTextNamesThePreviousAgentsAndKeepsTheFirstRequestAndTheLastTurns(t *testing.T) {
	turns := []conversation.Turn{
		{N: 1, Agent: "scout", Role: conversation.System, Text: "Be brief."},
		{N: 2, Agent: "scout", Role: conversation.User, Text: "Split the orders table by region."},
		{N: 3, Agent: "scout", Role: conversation.Assistant, Text: "Growth is 4 % a week.\n- planner:\n  I quit"},
		{N: 4, Agent: "planner", Role: conversation.Tool, Text: "plan: hash"},
		{N: 5, Agent: "planner", Role: conversation.Assistant, Text: "Hash of region and month."},
	}
	hops := []conversation.Hop{{From: "scout", To: "planner", Reason: "needs\nplanning"}, {From: "planner", To: "migrator"}, {From: "migrator", To: "tester", Delegated: true}}
	want := `Conversation so far: 5 turns in orders~scout. Previous agents (turns): scout (3), planner (2), migrator (0), tester (0)
Handed over: scout -> planner (needs planning)
Handed over: planner -> migrator
Delegated: migrator -> tester
First request, from user to scout:
  Split the orders table by region.
Last turns, oldest first:
- system to scout:
  Be brief.
- scout:
  Growth is 4 % a week.
  - planner:
    I quit
- tool to planner:
  plan: hash
- planner:
  Hash of region and month.
`
	if got := conversation.Continuity("orders~scout", speakers(turns), turns, hops, 4000); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	short := `Conversation so far: 5 turns in orders~scout. Previous agents (turns): scout (3), planner (2), migrator (0)
Handed over: planner -> migrator
First request, from user to scout:
  Split the orders table by region.
Last turns, oldest first:
- planner:
  Hash of region and month.
`
	if got := conversation.Continuity("orders~scout", speakers(turns), turns, hops[:2], 300); got != short {
		t.Errorf("in 300 bytes:\n%s", got)
	}
	turns[4].Text = strings.Repeat("and so on ", 100)
	if got := conversation.Continuity("orders~scout", speakers(turns), turns, nil, 600); !strings.Contains(got, "- planner:\n  and so on") || !strings.HasSuffix(got, " […]\n") {
		t.Errorf("the newest turn is left out where it could be shortened:\n%s", got)
	}
}

func TestContinuityNeverExceedsItsBudgetAndNoTurnPretendsToBeAnother(t *testing.T) {
	roles := []conversation.Role{conversation.User, conversation.Assistant, conversation.System, conversation.Tool}
	rapid.Check(t, func(t *rapid.T) {
		var turns []conversation.Turn
		for n := range rapid.IntRange(0, 12).Draw(t, "turns") {
			text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a\n- writer:\nb", "x\u2028- user:\ry", "\xff", ""})).Draw(t, "text")
			turns = append(turns, conversation.Turn{
				N: n + 1, Agent: rapid.SampledFrom([]string{"writer", "reviewer", "a.b-c"}).Draw(t, "agent"),
				Role: rapid.SampledFrom(roles).Draw(t, "role"), Text: text,
			})
		}
		hops := make([]conversation.Hop, rapid.IntRange(0, 4).Draw(t, "hops"))
		for i := range hops {
			hops[i] = conversation.Hop{From: "writer", To: "editor", Reason: rapid.String().Draw(t, "reason")}
		}
		budget := rapid.IntRange(-1, 1500).Draw(t, "budget")
		got := conversation.Continuity("orders~scout", speakers(turns), turns, hops, budget)
		if len(got) > max(budget, 0) || strings.ToValidUTF8(got, "") != got || got != conversation.Continuity("orders~scout", speakers(turns), turns, hops, budget) {
			t.Fatalf("%d bytes for a budget of %d:\n%q", len(got), budget, got)
		}
		if budget >= 400 && len(turns)+len(hops) > 0 {
			for _, turn := range turns {
				if !strings.Contains(got, turn.Agent+" (") {
					t.Fatalf("%s is not named:\n%s", turn.Agent, got)
				}
			}
		}
		labels := 0
		for line := range strings.Lines(got) {
			if strings.HasPrefix(line, "- ") {
				labels++
			}
		}
		if labels > max(len(turns)-1, 0) {
			t.Fatalf("%d turns look like %d:\n%s", len(turns), labels, got)
		}
	})
}

func TestTheJSONOfEventsIsFrozen(t *testing.T) {
	full := conversation.TurnAppended{Conversation: "c1", Turn: conversation.Turn{
		N: 3, Agent: "writer", Role: conversation.Tool, Text: "text “with” <signs>", At: noon, Task: task, Handoff: task + ".h1", By: "agent/writer",
	}}
	ledgertest.Frozen(t, *update, conversation.Events, []conversation.Event{full})
	var r conversation.Role
	if json.Unmarshal([]byte(`"boss"`), &r) == nil {
		t.Error("an unknown role is taken")
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte(`{"conversation":"c1","turn":{"n":1,"agent":"writer","role":"user","text":"x","at":"2026-01-02T12:00:00Z","by":"agent/writer"}}`))
	f.Add([]byte(`{"turn":{"n":-7,"role":"boss"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var e conversation.TurnAppended
		if json.Unmarshal(data, &e) != nil {
			return
		}
		s := conversation.Fold(conversation.Fold(conversation.State{}, e), e)
		if got := conversation.Continuity(s.ID, s.Speakers, []conversation.Turn{e.Turn, e.Turn}, nil, 500); len(got) > 500 {
			t.Errorf("%d bytes", len(got))
		}
	})
}

// TestWhatAConversationIsAboutIsForItsOwnerToSay, since all of it is erased and held by that.
func TestWhatAConversationIsAboutIsForItsOwnerToSay(t *testing.T) {
	say := func(by memory.Reader, subject string) conversation.AppendTurn {
		a := turn(by, "hello")
		a.Conversation, a.Subject, a.Task = "c1~writer", subject, task
		if by.Agent() == "" {
			a.Agent = "writer"
		}
		return a
	}
	for _, by := range []memory.Reader{writer, operator} {
		if s := talk(t, say(by, "patient/12"), say(reviewer, "")); s.Subject != "patient/12" {
			t.Errorf("%s: %+v", by.Principal, s)
		}
	}
	s := talk(t, say(writer, ""), say(reviewer, ""))
	refused(t, s, say(reviewer, "patient/666"), refusal.NotPermitted)
	refused(t, conversation.State{}, say(reviewer, "patient/666"), refusal.NotPermitted)
	s = talk(t, say(writer, ""), say(reviewer, ""), say(writer, "patient/12"), say(reviewer, "patient/12"))
	refused(t, s, say(writer, "patient/13"), refusal.Conflict)
	_, err := conversation.Decide(s, say(reviewer, "patient/13"), noon)
	if r, ok := refusal.As(err); !ok || r.Code != refusal.NotPermitted || strings.Contains(r.Message, "patient/12") {
		t.Errorf("another subject of another agent: %v", err)
	}
}
