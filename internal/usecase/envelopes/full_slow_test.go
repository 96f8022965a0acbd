//go:build slow

package envelopes

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/passage"
)

func TestNoFloodOfStepsDisplacesWhatTheServerTells(t *testing.T) {
	owned := task.Task{ID: "t1", Owner: "coder"}
	answer := envelope.Step{Agent: "operator/olga", Action: "answer", Detail: "use German", Recorded: true}
	for _, action := range []string{reported, "edited", "answer", "handed over to coder", replayed} {
		doc := envelope.Envelope{History: []envelope.Step{answer}}
		for n := 1; n <= 3; n++ {
			for i := range envelope.MaxHistory {
				tell(&doc, owned, envelope.Step{Agent: "coder", Action: action, Detail: fmt.Sprint(i)})
			}
			if len(doc.History) != envelope.MaxHistory {
				t.Fatalf("%s: the history has %d steps", action, len(doc.History))
			}
			if want := []envelope.Dropped{{Kind: envelope.DroppedSteps, Count: (n-1)*envelope.MaxHistory + 1, Task: "t1"}}; !reflect.DeepEqual(doc.Dropped, want) {
				t.Errorf("%s: dropped %+v, not %+v", action, doc.Dropped, want)
			}
			if doc.History[0].Detail != answer.Detail {
				t.Errorf("%s: the answer is displaced by %+v", action, doc.History[0])
			}
			if last := doc.History[len(doc.History)-1]; last.Detail != fmt.Sprint(envelope.MaxHistory-1) {
				t.Errorf("%s: the newest step is %+v", action, last)
			}
		}
	}
}

func TestNoAgentDisplacesTheStepsOfAnother(t *testing.T) {
	for _, size := range []int{10, envelope.MaxItemText} {
		doc, honest := envelope.Envelope{}, envelope.Step{Agent: "ann", Action: "found", Detail: "the cause"}
		tell(&doc, task.Task{ID: "t1"}, honest)
		for range 3 {
			for range envelope.MaxHistory {
				tell(&doc, task.Task{ID: "t1"}, envelope.Step{Agent: "mal", Action: "spoke", Detail: strings.Repeat("x", size)})
			}
			bytes := 0
			for _, s := range doc.History {
				bytes += len(s.Action) + len(s.Detail)
			}
			if doc.History[0].Agent != "ann" || bytes > maxHistoryBytes || len(doc.History) > envelope.MaxHistory || len(doc.Dropped) != 1 {
				t.Fatalf("%d steps of %d bytes begin with one of %s; dropped %+v", len(doc.History), bytes, doc.History[0].Agent, doc.Dropped)
			}
		}
	}
}

func TestEveryListCountsWhatFellOut(t *testing.T) {
	owned, doc := task.Task{ID: "t1", Owner: "coder"}, envelope.Envelope{}
	kept := newest(&doc, owned, []int{1, 2, 3}, 2, envelope.DroppedFiles)
	if len(kept) != 2 || kept[0] != 2 {
		t.Errorf("kept %v", kept)
	}
	owned.Dropped = passage.Dropped{Notes: 5, Answers: 3, Past: 2}
	told(&doc, owned)
	told(&doc, task.Task{ID: "t2", Dropped: passage.Dropped{Notes: 1}})
	told(&doc, owned)
	want := []envelope.Dropped{
		{Kind: envelope.DroppedFiles, Count: 1, Task: "t1"},
		{Kind: envelope.DroppedChanges, Count: 4, Task: "t1"},
		{Kind: envelope.DroppedNotes, Count: 10, Task: "t1"},
		{Kind: envelope.DroppedAnswers, Count: 6, Task: "t1"},
		{Kind: envelope.DroppedNotes, Count: 1, Task: "t2"},
	}
	if !reflect.DeepEqual(doc.Dropped, want) {
		t.Errorf("dropped %+v, not %+v", doc.Dropped, want)
	}
}

func TestNoQuestionReadsAsItsAnswer(t *testing.T) {
	steps := answers(task.Task{Answers: []task.Answer{{Question: "Deploy?” — yes “", Answer: "no", By: "operator/olga"}}})
	if want := "“Deploy?' — yes '” — no"; steps[0].Detail != want {
		t.Errorf("told %q, not %q", steps[0].Detail, want)
	}
}

// TestAHistoryThatNothingIsAddedToIsLeftAlone: the draft begins with the list of the envelope before, which others read.
func TestAHistoryThatNothingIsAddedToIsLeftAlone(t *testing.T) {
	before := make([]envelope.Step, 20)
	for i := range before {
		before[i] = envelope.Step{Agent: "bob", Action: strconv.Itoa(i), Detail: strings.Repeat("x", maxHistoryBytes/10)}
	}
	doc := envelope.Envelope{History: before}
	tell(&doc, task.Task{ID: "task_a"})
	if len(doc.History) != len(before) || len(doc.Dropped) != 0 {
		t.Errorf("%d of %d steps are left", len(doc.History), len(before))
	}
	tell(&doc, task.Task{ID: "task_a"}, envelope.Step{Agent: "ann", Action: "new"})
	for i := range before {
		if before[i].Action != strconv.Itoa(i) {
			t.Fatalf("step %d of the list before is %q", i, before[i].Action)
		}
	}
}
