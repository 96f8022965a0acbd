package usecase_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/desk"
)

var now = time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)

// ticketAsked is a question to a desk; of the owner ann.
func ticketAsked(n int, of string) event.TicketOpened {
	return event.TicketOpened{Ticket: n, Kind: event.TicketQuestion, Desk: of, By: "agent/ann", Due: now.Add(time.Hour), At: now}
}

func TestChangesAreThoseOfTheTicketsOfTheDesk(t *testing.T) {
	created := []event.Event{event.Created{Task: "t", Requester: "agent/ann"}}
	opened := func(of string) []event.Event { return append(slices.Clone(created), ticketAsked(1, of)) }
	closed := event.TicketClosed{Ticket: 1, Outcome: event.TicketAnswered, By: "yves", At: now}
	for name, c := range map[string]struct {
		before, events []event.Event
		want           string
	}{
		"opened with the task":                {nil, opened("billing"), "ticket-opened"},
		"of another desk":                     {created, []event.Event{ticketAsked(1, "legal")}, ""},
		"of a person by name":                 {created, []event.Event{event.TicketOpened{Ticket: 1, Kind: event.TicketQuestion, Desk: "billing", To: "yves", At: now}}, ""},
		"claimed by another":                  {opened("billing"), []event.Event{event.TicketClaimed{Ticket: 1, By: "yves", At: now}}, "ticket-claimed"},
		"reminded":                            {opened("billing"), []event.Event{event.TicketReminded{Ticket: 1, Reminder: 1, At: now}}, "ticket-reminded"},
		"escalated away":                      {opened("billing"), []event.Event{event.TicketEscalated{Ticket: 1, Desk: "operators", Level: 1, At: now}}, "ticket-escalated"},
		"escalated to it":                     {opened("legal"), []event.Event{event.TicketEscalated{Ticket: 1, Desk: "billing", Level: 1, At: now}}, "ticket-escalated"},
		"answered by another":                 {opened("billing"), []event.Event{closed}, "ticket-closed"},
		"after its end":                       {append(opened("billing"), closed), []event.Event{event.Progressed{}, event.Called{By: "ann", At: now}}, ""},
		"with the end of its task":            {opened("billing"), []event.Event{event.Called{By: "ann", At: now}}, "ticket-closed"},
		"of another desk, with its task":      {opened("legal"), []event.Event{event.Called{By: "ann", At: now}}, ""},
		"gone to another desk as a new one":   {opened("billing"), []event.Event{ticketAsked(2, "legal")}, "ticket-closed"},
		"come from another desk as a new one": {opened("legal"), []event.Event{ticketAsked(2, "billing")}, "ticket-opened"},
	} {
		t.Run(name, func(t *testing.T) {
			zoe := desk.Reader{Name: "zoe", Serves: []string{"billing"}}
			of := task.FoldAll(task.Task{}, c.before)
			var want []string
			if c.want != "" {
				want = []string{c.want}
			}
			if got := zoe.Changes(&of, c.events...); !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// What no reader of tickets looks at must change no ticket, whatever state it is in.
func TestEventsThatAreSkippedChangeNoTicket(t *testing.T) {
	skipped := 0
	for _, e := range event.Events {
		if desk.MayConcernTicket([]string{e.EventName()}) {
			continue
		}
		skipped++
		for _, before := range [][]event.Event{nil, {event.TicketClaimed{Ticket: 1, By: "yves", At: now}}, {event.TicketClosed{Ticket: 1, At: now}}} {
			of := task.FoldAll(task.FoldAll(task.Task{}, []event.Event{event.Created{Task: "t"}, ticketAsked(1, "billing")}), before)
			if after := task.Fold(of, e); after.Ticket != of.Ticket {
				t.Errorf("%s changes a ticket", e.EventName())
			}
		}
	}
	if skipped == 0 {
		t.Error("nothing is skipped")
	}
}

// registered are agents by their names.
type registered map[string]agent.State

func (r registered) Find(_ context.Context, _, name string, _ bool) (agent.State, error) {
	return r[name], nil
}

// Only an operator or admin acts as the owner, and only if the owner is a person of that very name, as registered now.
func TestAnOperatorActsAsThePersonOfThatName(t *testing.T) {
	human := agent.Spec{Kind: agent.KindHuman}
	agents := registered{
		"olga": {Name: "olga", Spec: human}, "bot": {Name: "bot"}, "gone": {Name: "gone", Spec: human, Removed: true},
		"nina": {Name: "nina~2", Spec: human},
	}
	for name, c := range map[string]struct {
		role        identity.Role
		name, owner string
		through     string
		want        string
	}{
		"an operator":                            {identity.Operator, "olga", "olga", "", "agent/olga"},
		"an admin":                               {identity.Admin, "olga", "olga", "", "agent/olga"},
		"an operator of another name":            {identity.Operator, "omar", "olga", "", "operator/omar"},
		"an operator of a task without owner":    {identity.Operator, "olga", "", "", "operator/olga"},
		"an operator named as a program":         {identity.Operator, "bot", "bot", "", "operator/bot"},
		"an operator whose agent was removed":    {identity.Operator, "gone", "gone", "", "operator/gone"},
		"an operator registered again":           {identity.Operator, "nina", "nina~2", "", "agent/nina~2"},
		"an operator registered again, before":   {identity.Operator, "nina", "nina", "", "operator/nina"},
		"an operator whom nobody has registered": {identity.Operator, "max", "max", "", "operator/max"},
		"an auditor":                             {identity.Auditor, "olga", "olga", "", "auditor/olga"},
		"another agent":                          {identity.Agent, "bot", "olga", "", "agent/bot"},
		"a person at the client of an agent":     {identity.Operator, "olga", "olga", "bot", "operator/olga"},
		"the server":                             {identity.System, "olga", "olga", "", "system/olga"},
	} {
		t.Run(name, func(t *testing.T) {
			by := caller.Caller{Principal: identity.Principal{Workspace: identity.DefaultWorkspace, Role: c.role, Name: c.name}, Through: c.through}
			got, err := desk.ActsAs(t.Context(), agents, by, task.Task{Owner: c.owner})
			if err != nil || got.String() != c.want || got.Workspace != identity.DefaultWorkspace {
				t.Errorf("%s in %q, %v; want %s", got, got.Workspace, err, c.want)
			}
		})
	}
}
