package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/custody"
	"github.com/trapezehq/trapeze/internal/fact"
)

const root = "../../.."

func TestThePagesSayWhatTheRulesDo(t *testing.T) {
	wantEvents, err := events(root)
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"states.md": states(), "events.md": wantEvents} {
		got, err := os.ReadFile(root + "/docs/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("docs/%s is out of date: run go generate ./internal/handoff and commit the result", file)
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
	for _, e := range fact.Events {
		_, rest, found := strings.Cut(page, "\n### "+e.EventName()+"\n\nVersion 1. ")
		if !found || len(rest) < 20 || rest[0] == '\n' {
			t.Errorf("docs/events.md says nothing of %s", e.EventName())
		}
	}
}

func TestEveryStateIsInItsTableAndEveryEventOfTheTablesExists(t *testing.T) {
	known := map[string]bool{}
	for _, e := range fact.Events {
		known[e.EventName()] = true
	}
	states, stages := map[fact.State]bool{"": true}, map[fact.Stage]bool{"": true}
	for range custody.TaskTable { // an edge may stand before those that lead to it
		for _, e := range custody.TaskTable {
			states[e.To] = states[e.To] || states[e.From]
		}
		for _, e := range custody.HandoffTable {
			stages[e.To] = stages[e.To] || stages[e.From]
		}
	}
	for _, e := range custody.TaskTable {
		if !known[e.Event] || !states[e.From] {
			t.Errorf("edge %+v has an event that does not exist, or leads from a state that cannot be reached", e)
		}
	}
	for _, e := range custody.HandoffTable {
		if !known[e.Event] || !stages[e.From] {
			t.Errorf("edge %+v has an event that does not exist, or leads from a stage that cannot be reached", e)
		}
	}
	for _, e := range custody.TicketTable {
		if !known[e.Event] || e.From != "" && !slices.Contains(fact.TicketStates(), e.From) || !slices.Contains(fact.TicketStates(), e.To) {
			t.Errorf("edge %+v has an event or a state that does not exist", e)
		}
	}
	if len(states) != len(fact.States())+1 || len(stages) != len(fact.Stages())+1 {
		t.Errorf("%d states and %d stages in the tables, %d and %d in all", len(states)-1, len(stages)-1, len(fact.States()), len(fact.Stages()))
	}
}
