package envelopes

import (
	"fmt"
	"testing"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

func TestNoFloodOfStepsDisplacesWhatTheServerTells(t *testing.T) {
	owned := task.Task{Owner: "coder"}
	answer := envelope.Step{Agent: "operator/olga", Action: "answer", Detail: "use German"}
	flood := func(action string) []envelope.Step {
		steps := make([]envelope.Step, envelope.MaxHistory)
		for i := range steps {
			steps[i] = envelope.Step{Agent: "coder", Action: action, Detail: fmt.Sprint(i)}
		}
		return steps
	}
	for _, action := range []string{reported, "edited"} {
		history := []envelope.Step{answer}
		for n := 1; n <= 3; n++ {
			history = withSteps(history, owned, flood(action)...)
			if len(history) != envelope.MaxHistory {
				t.Fatalf("%s: the history has %d steps", action, len(history))
			}
			if want := fmt.Sprintf("%d earlier steps; the recorded history of the task has them", (n-1)*envelope.MaxHistory+2); history[0].Detail != want {
				t.Errorf("%s: the history begins with %q, not %q", action, history[0].Detail, want)
			}
			if history[1].Detail != answer.Detail {
				t.Errorf("%s: the answer is displaced by %+v", action, history[1])
			}
			if last := history[len(history)-1]; last.Detail != fmt.Sprint(envelope.MaxHistory-1) {
				t.Errorf("%s: the newest step is %+v", action, last)
			}
		}
	}
}

func TestEveryListSaysWhatFellOut(t *testing.T) {
	owned, doc := task.Task{Owner: "coder"}, envelope.Envelope{}
	kept := newest(&doc, owned, []int{1, 2, 3}, 2, olderFiles, byDigest)
	if len(kept) != 2 || kept[0] != 2 || len(doc.History) != 1 || doc.History[0].Detail != "1 older files; earlier envelopes of the task name them" {
		t.Errorf("kept %v, and told %+v", kept, doc.History)
	}
	owned.Dropped = task.Dropped{Notes: 5, Answers: 3, Past: 2}
	owned.Notes = []string{"new"}
	told := envelope.Step{Agent: "coder", Action: reported, Detail: "old"}
	for _, c := range []struct {
		steps []envelope.Step
		want  string
	}{
		{answers(owned), "3 earlier answers of people; the recorded history of the task has them"},
		{passages(nil, owned), "2 earlier changes of hands, delegations and results; the recorded history of the task has them"},
		{progress(nil, owned), "5 earlier progress notes; the recorded history of the task has them"},
		{progress([]envelope.Step{told}, owned), "4 earlier progress notes; the recorded history of the task has them"},
	} {
		if len(c.steps) == 0 || c.steps[0].Detail != c.want {
			t.Errorf("told %+v, not %q", c.steps, c.want)
		}
	}
	again := append([]envelope.Step{told}, progress([]envelope.Step{told}, owned)...)
	if more := progress(again, owned); len(more) != 0 {
		t.Errorf("an envelope says again what the one before said: %+v", more)
	}
}
