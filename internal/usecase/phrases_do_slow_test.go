//go:build slow

package usecase_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqltest"
	"github.com/trapezehq/trapeze/internal/routing/phrase"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/history"
	"github.com/trapezehq/trapeze/internal/usecase/phrases"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// phraseHarness is the use cases over a ledger of their own, with four agents that are ready: alice, bob (sql), carol and lead.
type phraseHarness struct {
	*phrases.Phrases
	t    *testing.T
	app  *usecase.UseCases
	skew atomic.Int64 // nanoseconds that its clock is ahead
}

func openPhrases(t *testing.T) *phraseHarness {
	t.Helper()
	log, views := sqltest.Open(t)
	h := &phraseHarness{t: t}
	a, err := usecase.New(log, views.Store(), usecase.Options{Now: func() time.Time { return time.Now().Add(time.Duration(h.skew.Load())) }})
	if err != nil {
		t.Fatal(err)
	}
	h.Phrases, h.app = a.Phrases, a
	for name, spec := range map[string]agents.AgentSpec{
		"alice": {Escalation: []string{"lead"}}, "bob": {Capabilities: []string{"sql"}}, "carol": {}, "lead": {},
	} {
		if _, err := a.Agents.Register(t.Context(), operator, agents.RegisterInput{Name: name, Spec: spec}); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Agents.SetReadiness(t.Context(), operator, agents.ReadinessInput{Name: name, Readiness: "ready"}); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

var (
	operator = who(identity.Operator, "olga")
	alice    = who(identity.Agent, "alice")
	bob      = who(identity.Agent, "bob")
	carol    = who(identity.Agent, "carol")
)

// task makes a task that an agent works on.
func (h *phraseHarness) task(c caller.Caller, intent string) string {
	h.t.Helper()
	r, err := h.app.Tasks.Create(h.t.Context(), c, &tasks.CreateInput{Intent: intent, Start: true})
	if err != nil {
		h.t.Fatal(err)
	}
	if err := h.app.Positions.Wait(h.t.Context(), r.Position); err != nil {
		h.t.Fatal(err)
	}
	return r.Task
}

// ask says something that must first be confirmed, and gives the confirmation.
func (h *phraseHarness) ask(c caller.Caller, in phrases.DoInput) phrases.Done {
	h.t.Helper()
	d, err := h.Do(h.t.Context(), c, in)
	if err != nil {
		h.t.Fatalf("%s: %v", in.Text, err)
	}
	if d.Confirm == "" || d.Receipt != nil {
		h.t.Fatalf("%s was done at once: %+v", in.Text, d)
	}
	return d
}

// done says something, and confirms it.
func (h *phraseHarness) done(c caller.Caller, in phrases.DoInput) phrases.Done {
	h.t.Helper()
	in.Confirm = h.ask(c, in).Confirm
	d, err := h.Do(h.t.Context(), c, in)
	if err != nil {
		h.t.Fatalf("%s: %v", in.Text, err)
	}
	if err := h.app.Positions.Wait(h.t.Context(), d.Receipt.Position); err != nil {
		h.t.Fatal(err)
	}
	return d
}

func (h *phraseHarness) refused(c caller.Caller, in phrases.DoInput, code refusal.Code, message string) *refusal.Error {
	h.t.Helper()
	d, err := h.Do(h.t.Context(), c, in)
	r, ok := refusal.As(err)
	if !ok || r.Code != code || !strings.Contains(r.Message+" "+r.Hint, message) {
		h.t.Fatalf("%s: %v and %+v, want %s with %q", in.Text, err, d, code, message)
	}
	return r
}

// events counts the events of a task.
func (h *phraseHarness) events(task string) (names []string) {
	h.t.Helper()
	tr, err := h.app.History.Trail(h.t.Context(), operator, task)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, e := range tr.Entries {
		names = append(names, e.Event)
	}
	return names
}

func say(text string) phrases.DoInput { return phrases.DoInput{Text: text} }

func TestATaskMovesOnlyWhenWhatWasUnderstoodIsConfirmed(t *testing.T) {
	h := openPhrases(t)
	task := h.task(alice, "refund order 7")
	before := h.events(task)
	d := h.ask(alice, say("please hand this off to Bob because it needs SQL"))
	if want := "hand " + task + ` off to bob because "it needs SQL"`; d.Understood.Sentence != want {
		t.Errorf("understood %q, want %q", d.Understood.Sentence, want)
	}
	if after := h.events(task); !slices.Equal(before, after) {
		t.Errorf("something happened: %v", after)
	}
	d = h.done(alice, say("please hand this off to Bob because it needs SQL"))
	if d.Receipt.Task != task || !slices.Equal(d.Receipt.To, []string{"bob"}) || d.At() == 0 {
		t.Errorf("receipt %+v", d.Receipt)
	}
	got, err := h.app.Tasks.Show(t.Context(), operator, task)
	if err != nil || got.Handoff.Detail != "it needs SQL" || got.Handoff.Reason != event.ReasonUserRequest {
		t.Errorf("%+v, %v", got.Handoff, err)
	}
}

func TestANameThatNobodyHasIsAQuestionBack(t *testing.T) {
	h := openPhrases(t)
	task := h.task(alice, "one")
	r := h.refused(alice, say("hand this off to karol"), refusal.NotFound, "did you mean carol")
	if near, _ := r.Details["did_you_mean"].([]string); len(near) == 0 || near[0] != "carol" {
		t.Errorf("%v", r.Details)
	}
	h.refused(alice, say("transfer context to bobb"), refusal.NotFound, "bob")
	h.refused(alice, say("this needs a specialist in sqll"), refusal.NotFound, "did you mean sql")
	r = h.refused(alice, say("this needs a specialist"), refusal.Invalid, "sql")
	if r.Details["why"] != phrase.Incomplete {
		t.Errorf("%v", r.Details)
	}
	last := map[bool]string{true: "1", false: "0"}[task[len(task)-1] == '0']
	r = h.refused(alice, say("escalate "+task[:len(task)-1]+last), refusal.NotFound, task)
	if r.Details["tasks"] == nil {
		t.Errorf("%v", r.Details)
	}
	if slices.Contains(h.events(task), "handoff-request") {
		t.Error("something happened")
	}
}

func TestWhereThisCouldBeSeveralTasksItAsksWhich(t *testing.T) {
	h := openPhrases(t)
	h.refused(alice, say("escalate this"), refusal.Invalid, "no task you hold")
	one, two := h.task(alice, "refund order 7"), h.task(alice, "refund order 8")
	r := h.refused(alice, say("escalate this"), refusal.Invalid, "2 tasks you hold")
	for _, want := range []string{one, two, "refund order 7", "refund order 8"} {
		if !strings.Contains(r.Hint, want) {
			t.Errorf("%q does not name %s", r.Hint, want)
		}
	}
	h.refused(alice, say("what is the handoff history"), refusal.Invalid, "2 tasks")
	h.refused(alice, phrases.DoInput{Text: "escalate " + one, Task: two}, refusal.Invalid, "leave one of the two out")
	h.refused(alice, phrases.DoInput{Text: "escalate this", Task: "seven"}, refusal.Invalid, "task id")
	if d := h.ask(alice, say("escalate "+one)); d.Understood.Task != one {
		t.Errorf("%+v", d.Understood)
	}
	if d := h.ask(alice, phrases.DoInput{Text: "escalate this", Task: two}); d.Understood.Task != two {
		t.Errorf("%+v", d.Understood)
	}
	if d := h.ask(bob, say("take over "+one+" from alice")); d.Understood.Task != one {
		t.Errorf("%+v", d.Understood)
	}
}

func TestWhatOnlyLooksIsDoneAtOnce(t *testing.T) {
	h := openPhrases(t)
	task := h.task(alice, "one")
	h.task(alice, "another, which stays")
	h.done(alice, say("hand "+task+" off to bob"))
	d, err := h.Do(t.Context(), alice, phrases.DoInput{Text: "what is the handoff history?", Task: task})
	if err != nil || d.Trail == nil || len(d.Trail.Handoffs) != 1 || d.Confirm != "" {
		t.Errorf("%+v, %v", d, err)
	}
	d, err = h.Do(t.Context(), operator, say("show active handoffs"))
	if err != nil || len(d.Handoffs) != 1 || d.Handoffs[0].ID != task || d.More {
		t.Errorf("%+v, %v", d, err)
	}
	d, err = h.Do(t.Context(), carol, say("show active handoffs"))
	if err != nil || len(d.Handoffs) != 0 {
		t.Errorf("carol has no part in it: %+v, %v", d, err)
	}
	h.refused(carol, say("show the history of "+task), refusal.NotFound, task)
}

func TestEachIntentIsDoneByTheUseCaseOfItsName(t *testing.T) {
	for _, c := range []struct {
		text  string
		event string
		check func(t taskstore.Task) bool
	}{
		{"escalate this", "handoff-request", func(t taskstore.Task) bool {
			return t.Handoff.Reason == event.ReasonEscalation && slices.Equal(t.Handoff.To, []string{"lead"})
		}},
		{"escalate this to carol because I give up", "handoff-request", func(t taskstore.Task) bool {
			return t.Handoff.Reason == event.ReasonEscalation && slices.Equal(t.Handoff.To, []string{"carol"}) && t.Handoff.Detail == "I give up"
		}},
		{"this needs a specialist in sql", "handoff-request", func(t taskstore.Task) bool {
			return t.Handoff.Reason == event.ReasonSpecialization && slices.Equal(t.Handoff.To, []string{"bob"})
		}},
		{"transfer context to carol", "envelope-shared", func(t taskstore.Task) bool { return t.Shares[0].To == "carol" && t.Owner == "alice" }},
	} {
		t.Run(c.text, func(t *testing.T) {
			h := openPhrases(t)
			task := h.task(alice, "one")
			h.done(alice, say(c.text))
			if !slices.Contains(h.events(task), c.event) {
				t.Errorf("%v", h.events(task))
			}
			got, err := h.app.Tasks.Show(t.Context(), operator, task)
			if err != nil || !c.check(got) {
				t.Errorf("%+v, %+v, %v", got.Handoff, got.Shares, err)
			}
		})
	}
}

func TestATakeoverIsFromTheOneThatWasNamed(t *testing.T) {
	h := openPhrases(t)
	task := h.task(alice, "one")
	h.refused(operator, say("take over from alice"), refusal.Invalid, "hand TASK off to AGENT")
	h.refused(bob, say("take over this"), refusal.Invalid, "names no owner")
	h.refused(bob, say("take over from alice"), refusal.Invalid, "name the task") // whose tasks bob may not see
	blind := say("take over " + task + " from alice")
	blind.Confirm = h.ask(bob, blind).Confirm
	h.refused(bob, blind, refusal.NotFound, "that you may see")
	h.done(alice, say("transfer context to bob"))
	d := h.done(bob, say("take over "+task+" from alice"))
	if d.Receipt.Takeover == "" {
		t.Errorf("%+v", d.Receipt)
	}
	in := say("take over " + task + " from carol")
	in.Confirm = h.ask(bob, in).Confirm
	h.refused(bob, in, refusal.Conflict, "does not own")
}

func TestAnOperatorMeansTheTaskThatItRequested(t *testing.T) {
	h := openPhrases(t)
	h.task(alice, "not olga's")
	r, err := h.app.Tasks.Create(t.Context(), operator, &tasks.CreateInput{Intent: "one", Send: &handoffs.SendInput{To: []string{"carol"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.app.Positions.Wait(t.Context(), r.Position); err != nil {
		t.Fatal(err)
	}
	d, err := h.Do(t.Context(), operator, say("what is the history of this?"))
	if err != nil || d.Understood.Task != r.Task {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestWhoHasNoRightHearsNoNames(t *testing.T) {
	h := openPhrases(t)
	nobody := caller.Caller{}
	h.refused(nobody, say("hand this off to karol"), refusal.Unauthenticated, "")
	auditor := who(identity.Auditor, "ann")
	task := h.task(alice, "one")
	in := phrases.DoInput{Text: "escalate this", Task: task}
	in.Confirm = h.ask(auditor, in).Confirm
	h.refused(auditor, in, refusal.NotPermitted, "")
}

func TestAnOddSentenceIsRefusedAndRecorded(t *testing.T) {
	h := openPhrases(t)
	r := h.refused(alice, say("do not hand this off"), refusal.Invalid, "nothing was done")
	if r.Details["why"] != phrase.Negated {
		t.Errorf("%v", r.Details)
	}
	var b strings.Builder
	if err := h.app.History.Export(t.Context(), operator, history.ExportInput{Format: view.FormatLines}, &b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"verb":"do"`) {
		t.Error("the attempt is not recorded")
	}
}

func TestWhoIsStuckIsReplaced(t *testing.T) {
	h := openPhrases(t)
	if _, err := h.app.Agents.Register(t.Context(), operator, agents.RegisterInput{Name: "bob", Spec: agents.AgentSpec{Fallbacks: []string{"carol"}}}); err != nil {
		t.Fatal(err)
	}
	h.refused(alice, say("this is stuck"), refusal.Invalid, "no task you requested")
	task := h.task(alice, "one")
	h.refused(alice, say("this is stuck"), refusal.Invalid, "no task you requested") // it is alice who has it
	sent := h.done(alice, say("hand this off to bob"))
	if _, err := h.app.Tasks.Accept(t.Context(), bob, tasks.AcceptInput{Handoff: sent.Receipt.Handoff}); err != nil {
		t.Fatal(err)
	}
	if err := h.app.Positions.Wait(t.Context(), mustLast(t, h)); err != nil {
		t.Fatal(err)
	}
	in := say("agent carol is stuck on " + task)
	in.Confirm = h.ask(alice, in).Confirm
	h.refused(alice, in, refusal.Conflict, "does not own")
	d := h.ask(alice, say("this is stuck"))
	if d.Understood.Task != task {
		t.Errorf("%+v", d.Understood)
	}
	in = say("agent bob is stuck because nothing comes")
	in.Confirm = h.ask(operator, in).Confirm
	d, err := h.Do(t.Context(), operator, in)
	if err != nil || d.Relief == nil || len(d.Relief.Moved) != 1 || d.Relief.Moved[0].Task != task || !slices.Equal(d.Relief.Moved[0].To, []string{"carol"}) || d.At() == 0 {
		t.Errorf("%+v, %v", d.Relief, err)
	}
}

func TestATaskThatIsStuckIsOffered(t *testing.T) {
	h := openPhrases(t)
	r, err := h.app.Tasks.Create(t.Context(), operator, &tasks.CreateInput{Intent: "one", Send: &handoffs.SendInput{To: []string{"alice"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.app.Tasks.Accept(t.Context(), alice, tasks.AcceptInput{Handoff: r.Handoff}); err != nil {
		t.Fatal(err)
	}
	if err := h.app.Positions.Wait(t.Context(), mustLast(t, h)); err != nil {
		t.Fatal(err)
	}
	d := h.done(operator, say("this is stuck"))
	if d.Receipt == nil || !slices.Equal(d.Receipt.To, []string{"lead"}) {
		t.Errorf("%+v", d.Receipt)
	}
}

func mustLast(t *testing.T, h *phraseHarness) ledger.Position {
	t.Helper()
	last, err := h.app.Positions.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return last
}
