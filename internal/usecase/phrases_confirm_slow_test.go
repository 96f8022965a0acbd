//go:build slow

package usecase_test

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/phrases"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

func TestAConfirmationIsForTheTaskAsItStood(t *testing.T) {
	h := openPhrases(t)
	task := h.task(alice, "one")
	in := phrases.DoInput{Text: "hand this off to carol", Task: task}
	in.Confirm = h.ask(alice, in).Confirm
	sent := h.done(alice, phrases.DoInput{Text: "hand off to bob", Task: task})
	if _, err := h.app.Tasks.Reject(t.Context(), bob, tasks.RejectInput{Handoff: sent.Receipt.Handoff, Reason: event.Overloaded}); err != nil {
		t.Fatal(err)
	}
	h.refused(alice, in, refusal.Conflict, "has moved since") // the epoch is the same
	if n := strings.Count(strings.Join(h.events(task), " "), "handoff-request"); n != 1 {
		t.Errorf("%d handoffs", n)
	}
}

func TestWorkThatGoesOnDoesNotUndoAConfirmation(t *testing.T) {
	h := openPhrases(t)
	task := h.task(alice, "one")
	in := phrases.DoInput{Text: "hand this off to carol", Task: task}
	in.Confirm = h.ask(alice, in).Confirm
	if _, err := h.app.Tasks.Progress(t.Context(), alice, tasks.ProgressInput{Task: task, Epoch: 1, Note: "half is done"}); err != nil {
		t.Fatal(err)
	}
	if d, err := h.Do(t.Context(), alice, in); err != nil || !slices.Equal(d.Receipt.To, []string{"carol"}) {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestAConfirmationIsOverAfterAWhile(t *testing.T) {
	h := openPhrases(t)
	in := phrases.DoInput{Text: "hand this off to carol", Task: h.task(alice, "one")}
	in.Confirm = h.ask(alice, in).Confirm
	h.skew.Add(int64(phrases.MaxAge + 2*time.Second))
	h.refused(alice, in, refusal.Expired, "10 minutes")
	at := strings.Split(in.Confirm, ".")
	at[2] = "9" + at[2]
	in.Confirm = strings.Join(at, ".")
	h.refused(alice, in, refusal.Conflict, "not what is understood")
	in.Confirm = ""
	h.done(alice, in)
}

func TestAConfirmationActsOnceHoweverOftenAndInWhateverCallsItComes(t *testing.T) {
	h := openPhrases(t)
	task := h.task(alice, "one")
	for _, in := range []phrases.DoInput{say("transfer context to carol"), say("hand this off to bob")} {
		in.Confirm = h.ask(alice, in).Confirm
		var first atomic.Int32
		var wg sync.WaitGroup
		for i := range 8 {
			c := alice
			if i%2 == 0 {
				c = alice.WithKey(strings.Repeat("k", i+1))
			}
			wg.Go(func() {
				d, err := h.Do(t.Context(), c, in)
				if err != nil {
					t.Error(err)
				} else if !d.Receipt.Repeat {
					first.Add(1)
				}
			})
		}
		wg.Wait()
		if first.Load() != 1 {
			t.Errorf("%s: done %d times", in.Text, first.Load())
		}
	}
	all := strings.Join(h.events(task), " ")
	if strings.Count(all, "handoff-request") != 1 || strings.Count(all, "envelope-shared") != 1 {
		t.Error(all)
	}
}

func TestWhoIsSaidToBeStuckWithOtherTasksIsAskedAboutAgain(t *testing.T) {
	h := openPhrases(t)
	if _, err := h.app.Agents.Register(t.Context(), operator, agents.RegisterInput{Name: "bob", Spec: agents.AgentSpec{Fallbacks: []string{"carol"}}}); err != nil {
		t.Fatal(err)
	}
	h.task(bob, "one")
	in := say("agent bob is stuck")
	in.Confirm = h.ask(operator, in).Confirm
	two := h.task(bob, "two")
	h.refused(operator, in, refusal.Conflict, "has moved since")
	in.Confirm = ""
	in.Confirm = h.ask(operator, in).Confirm
	if d, err := h.Do(t.Context(), operator, in); err != nil || len(d.Relief.Moved) != 2 {
		t.Fatalf("%+v, %v", d.Relief, err)
	}
	three := h.task(bob, "three")
	h.refused(operator, in, refusal.Conflict, "has moved since")
	if slices.Contains(h.events(three), "owner-stuck") || !slices.Contains(h.events(two), "owner-stuck") {
		t.Error("it acted on what was not confirmed")
	}
}

func TestAConfirmationTellsAStrangerNothingOfTheTask(t *testing.T) {
	h := openPhrases(t)
	task := h.task(alice, "one")
	in := say("take over " + task + " from alice")
	parts := strings.Split(h.ask(bob, in).Confirm, ".")
	if len(parts) != 5 || parts[0] != "0" || parts[3] != "" {
		t.Errorf("%v", parts)
	}
}

func TestTheSameKeyDoesItOnce(t *testing.T) {
	h := openPhrases(t)
	task := h.task(alice, "one")
	in := say("hand this off to bob")
	in.Confirm = h.ask(alice, in).Confirm
	for i := range 2 {
		d, err := h.Do(t.Context(), alice.WithKey("k1"), in)
		if err != nil || d.Receipt.Repeat != (i == 1) {
			t.Fatalf("%+v, %v", d, err)
		}
	}
	if n := strings.Count(strings.Join(h.events(task), " "), "handoff-request"); n != 1 {
		t.Errorf("%d handoffs", n)
	}
}

func TestNothingElseRidesOnAConfirmation(t *testing.T) {
	h := openPhrases(t)
	task := h.task(alice, "one")
	in := phrases.DoInput{Text: "hand this off to bob because it is late", Task: task}
	in.Confirm = h.ask(alice, in).Confirm
	other := h.task(alice, "two")
	for _, c := range []struct {
		who  caller.Caller
		in   phrases.DoInput
		what string
	}{
		{alice, phrases.DoInput{Text: "hand this off to carol because it is late", Task: task, Confirm: in.Confirm}, "another agent"},
		{alice, phrases.DoInput{Text: "hand this off to bob because it is late!", Task: task, Confirm: in.Confirm}, "another reason"},
		{alice, phrases.DoInput{Text: "escalate this to bob because it is late", Task: task, Confirm: in.Confirm}, "another intent"},
		{alice, phrases.DoInput{Text: in.Text, Task: other, Confirm: in.Confirm}, "another task"},
		{alice, phrases.DoInput{Text: in.Text, Task: task, Confirm: strings.Replace(in.Confirm, ".", "0.", 1)}, "another epoch"},
		{alice, phrases.DoInput{Text: in.Text, Task: task, Confirm: "yes"}, "no confirmation"},
		{alice, phrases.DoInput{Text: in.Text, Task: task, Confirm: strings.Replace(in.Confirm, task, other, 1)}, "a task of somebody's making"},
		{bob, in, "another agent says it"},
		{operator, in, "an operator says it"},
	} {
		d, err := h.Do(t.Context(), c.who, c.in)
		if refusal.CodeOf(err) != refusal.Conflict {
			t.Errorf("%s: %+v, %v", c.what, d, err)
		}
	}
	for _, id := range []string{task, other} {
		if slices.Contains(h.events(id), "handoff-request") {
			t.Errorf("%s was handed off", id)
		}
	}
	if _, err := h.Do(t.Context(), alice, in); err != nil { // it still counts for what it is of, with two tasks by now
		t.Error(err)
	}
}

func TestAConfirmationIsOverWhenTheTaskHasMoved(t *testing.T) {
	h := openPhrases(t)
	task := h.task(alice, "one")
	in := phrases.DoInput{Text: "hand this off to carol", Task: task}
	in.Confirm = h.ask(operator, in).Confirm
	sent := h.done(alice, phrases.DoInput{Text: "hand off to bob", Task: task})
	if _, err := h.app.Tasks.Accept(t.Context(), bob, tasks.AcceptInput{Handoff: sent.Receipt.Handoff}); err != nil {
		t.Fatal(err)
	}
	h.refused(operator, in, refusal.StaleEpoch, "")
}
