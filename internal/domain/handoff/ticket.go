package handoff

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// opened opens a ticket at a desk.
func opened(t task.Task, desk, then string, span event.Duration, now time.Time) event.TicketOpened {
	span = event.Timeouts{Answer: span}.People()
	e := event.TicketOpened{Ticket: 1, Desk: cmp.Or(desk, event.DeskOperators), Then: cmp.Or(then, event.DeskOperators), By: t.Source(), Span: span, Due: span.After(now), At: now}
	if t.Ticket != nil {
		e.Ticket = t.Ticket.N + 1
	}
	if e.Then == e.Desk {
		e.Then = ""
	}
	return e
}

// toDesk ends the handoff at a desk, whose people are asked to take the task over.
func (d *decision) toDesk(desk int, passed []event.Passed, now time.Time) {
	h := d.t.Handoff
	c := h.Candidates[desk]
	then := ""
	for _, next := range h.Candidates[desk+1:] {
		if next.IsDesk() && then == "" {
			then = next.Desk
		}
	}
	e := opened(d.t, c.Desk, then, h.Times.Answer, now)
	e.Kind, e.Handoff, e.Passed = event.TicketTakeover, h.N, passed
	e.Question = refusal.Clip(cmp.Or(h.Detail, "take the task over"), event.MaxQuestion)
	e.After = d.t.Standing()
	e.After.State = event.Waiting
	d.do(e)
}

// ToApprove returns the handoff that a ticket asks to approve. Tickets of other kinds, and closed ones, are refused.
func ToApprove(t task.Task, ticket int) (handoff int, err error) {
	k, err := authority.OpenTicket(t, ticket)
	if err != nil {
		return 0, err
	}
	return k.Handoff, authority.RequireKind(t, k, event.TicketApproval)
}

// served returns the open ticket for a principal that may handle it: an operator, the agent or person that was asked by
// name, or a person of the desk; but not the asker, and nobody else while it is reserved for its claimant.
func served(t task.Task, by identity.Principal, serves []string, n int, now time.Time) (*task.Ticket, error) {
	k, err := authority.OpenTicket(t, n)
	if err != nil {
		return nil, err
	}
	if k.Kind == event.TicketApproval {
		_, err := approvable(t, by, k.Handoff, now)
		return k, err
	}
	id := event.TicketID(t.ID, n)
	asked := by.Agent() != "" && by.Agent() == k.To
	switch {
	case samePerson(by, k.By) && k.Kind != event.TicketTakeover:
		return nil, refusal.New(refusal.NotPermitted, "[wait for the answer](ticket wait "+id+"), or [withdraw the question](ticket deny "+id+")", "nobody answers their own question")
	case !by.IsOperator() && !asked && (k.To != "" || !slices.Contains(serves, k.Desk)):
		return nil, refusal.New(refusal.NotPermitted, "leave it to the people of the desk "+k.Desk, "%s does not serve ticket %s", by.Short(), id)
	}
	return k, requireNotKept(t, by, k, now)
}

// requireNotKept refuses while a ticket is reserved for another claimant.
func requireNotKept(t task.Task, by identity.Principal, k *task.Ticket, now time.Time) error {
	if k == nil || k.State != event.TicketStateClaimed || samePerson(by, k.ClaimedBy) || !now.Before(k.Kept) {
		return nil
	}
	return refusal.New(refusal.Conflict, "leave it to them, or come back after that", "%s has claimed ticket %s until %s", k.ClaimedBy, event.TicketID(t.ID, k.N),
		k.Kept.Format(time.RFC3339))
}

// samePerson reports whether a recorded name is the caller's, in any role.
func samePerson(by identity.Principal, name string) bool {
	return by.Short() == name || person(by.String()) == person(name)
}

// person is the person behind a principal or an agent's bare name: "operator/ann", "admin/ann" and the agent ann, which may
// be of kind human, are the same person. The server is nobody else.
func person(principal string) string {
	role, name, is := strings.Cut(principal, "/")
	switch {
	case !is:
		return principal
	case role == "system":
		return "system/" + name
	}
	return name
}
