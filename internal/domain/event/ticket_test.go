package event_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestATicketsIDSaysWhichTaskToRead(t *testing.T) {
	task := event.TaskID([16]byte{1, 2, 3})
	got, n, err := event.ParseTicketID(event.TicketID(task, 12))
	if err != nil || got != task || n != 12 {
		t.Errorf("%s: %s, %d, %v", event.TicketID(task, 12), got, n, err)
	}
	for _, id := range []string{"", task, task + ".k", task + ".k0", task + ".k01", task + ".h1", task + ".k-1", "k1", task + ".k99999999999"} {
		if _, _, err := event.ParseTicketID(id); refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestAQuestionHasWordsAndAFewOptionsAtMost(t *testing.T) {
	for _, q := range []struct {
		question string
		options  []string
		ok       bool
	}{
		{"which one?", nil, true},
		{"which one?", []string{"this", "that"}, true},
		{" \n", nil, false},
		{strings.Repeat("w", event.MaxQuestion+1), nil, false},
		{"\xff?", nil, false},
		{"which one?", []string{"this", "this"}, false},
		{"which one?", []string{""}, false},
		{"which one?", []string{strings.Repeat("x", event.MaxOption+1)}, false},
		{"which one?", slices.Repeat([]string{"x"}, event.MaxOptions+1), false},
	} {
		if err := event.CheckQuestion(q.question, q.options); (err == nil) != q.ok {
			t.Errorf("%.40q with %d options: %v", q.question, len(q.options), err)
		}
	}
}

func TestAnAnswerIsAmongTheOptionsWhereThereAreAny(t *testing.T) {
	for _, a := range []struct {
		answer  string
		options []string
		ok      bool
	}{
		{"the blue one", nil, true},
		{"this", []string{"this", "that"}, true},
		{"neither", []string{"this", "that"}, false},
		{"  ", nil, false},
		{strings.Repeat("w", event.MaxAnswer+1), nil, false},
		{"\xff", nil, false},
	} {
		if err := event.CheckAnswer(a.answer, a.options); (err == nil) != a.ok {
			t.Errorf("%.40q of %q: %v", a.answer, a.options, err)
		}
	}
}
