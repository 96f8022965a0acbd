//go:build slow

package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

const root = "../../../.."

func TestThePagesSayWhatTheRulesDo(t *testing.T) {
	wantEvents, err := events(root)
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"states.md": states(), "visibility.md": visibility(), "events.md": wantEvents} {
		got, err := os.ReadFile(root + "/docs/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("docs/%s is out of date: run go generate ./internal/domain/task and commit the result", file)
		}
	}
}

func TestWithoutTheSourceNothingIsWritten(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir + "/docs/states.md"); err == nil {
		t.Error("wrote a page without the source beside it")
	}
}

func TestEveryEventSaysWhatItIs(t *testing.T) {
	page, err := events(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range event.Events {
		_, rest, found := strings.Cut(page, "\n### "+e.EventName()+"\n\nVersion 1. ")
		if !found || len(rest) < 20 || rest[0] == '\n' {
			t.Errorf("docs/events.md says nothing of %s", e.EventName())
		}
	}
}

func TestEveryStateIsInItsTableAndEveryEventOfTheTablesExists(t *testing.T) {
	known := map[string]bool{}
	for _, e := range event.Events {
		known[e.EventName()] = true
	}
	states, stages := map[event.State]bool{"": true}, map[event.Stage]bool{"": true}
	for range task.TaskTable { // an edge may stand before those that lead to it
		for _, e := range task.TaskTable {
			states[e.To] = states[e.To] || states[e.From]
		}
		for _, e := range task.HandoffTable {
			stages[e.To] = stages[e.To] || stages[e.From]
		}
	}
	for _, e := range task.TaskTable {
		if !known[e.Event] || !states[e.From] {
			t.Errorf("edge %+v has an event that does not exist, or leads from a state that cannot be reached", e)
		}
	}
	for _, e := range task.HandoffTable {
		if !known[e.Event] || !stages[e.From] {
			t.Errorf("edge %+v has an event that does not exist, or leads from a stage that cannot be reached", e)
		}
	}
	for _, e := range task.TicketTable {
		if !known[e.Event] || e.From != "" && !slices.Contains(event.TicketStates.Values(), e.From) || !slices.Contains(event.TicketStates.Values(), e.To) {
			t.Errorf("edge %+v has an event or a state that does not exist", e)
		}
	}
	if len(states) != len(event.States.Values())+1 || len(stages) != len(event.Stages.Values())+1 {
		t.Errorf("%d states and %d stages in the tables, %d and %d in all", len(states)-1, len(stages)-1, len(event.States.Values()), len(event.Stages.Values()))
	}
}
