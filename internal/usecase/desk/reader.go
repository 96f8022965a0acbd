package desk

import (
	"context"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Agents are the agents of a ledger.
type Agents interface {
	// Find is an agent as it is registered, by its name or identity; the zero state of one that is not.
	Find(ctx context.Context, workspace, name string, fresh bool) (agent.State, error)
}

// Reader is what a caller is to the tickets of its workspace: an operator, a person who serves desks, or an agent.
type Reader struct {
	Name   string   // of the agent that calls; empty for others
	All    bool     // may see every ticket
	Here   bool     // the caller is a person at the client of the agent
	Person string   // under which name the caller may own a task as a person; empty: under none
	Serves []string // desks

	principal string
}

// ReaderOf returns what the caller is to tickets now.
func ReaderOf(ctx context.Context, agents Agents, c caller.Caller) (Reader, error) {
	if c.Through != "" {
		return Reader{Name: c.Through, Here: true}, nil
	}
	r := Reader{Name: c.Agent(), All: identity.May(c.Role, identity.ReadAny), principal: c.String()}
	if c.IsSystem() {
		return r, nil
	}
	known, err := agents.Find(ctx, c.Workspace, c.Name, false) // an operator may have an agent of the same name
	if err != nil || known.Removed || known.Spec.Kind != agent.KindHuman {
		return r, err
	}
	r.Person = known.Name
	if r.Name != "" {
		r.Serves = known.Spec.Capabilities
	}
	return r, nil
}

// Sees reports whether a ticket of a task is the caller's business.
func (r Reader) Sees(t task.Task, k task.Ticket) bool {
	asks := strings.TrimPrefix(k.By, "agent/")
	switch {
	case r.Here:
		return askedBy(r.Name, t, k)
	case r.All:
		return true
	case t.Requester == r.principal:
		return true
	case r.Name == "":
		return false
	case r.Name == asks, r.Name == k.To, r.Name == k.ClaimedBy, r.Name == t.Owner && k.N > t.Withheld.Tickets:
		return true
	}
	return k.To == "" && k.Kind != event.TicketApproval && slices.Contains(r.Serves, k.Desk)
}

// askedBy reports whether an agent asks a question, or requested the task whose owner asks it.
func askedBy(agent string, t task.Task, k task.Ticket) bool {
	requester := identity.Principal{Role: identity.Agent, Name: agent}
	return k.Kind == event.TicketQuestion && (strings.TrimPrefix(k.By, "agent/") == agent || t.Requester == requester.String())
}

// ActsAs is the principal as which a caller does what only the owner of a task may do: for an operator who is registered as the person who
// owns it, that person; for everybody else, the caller itself. It is for those who have taken a task over with the token of an operator.
func ActsAs(ctx context.Context, agents Agents, c caller.Caller, t task.Task) (identity.Principal, error) {
	if !c.IsOperator() || t.Owner == "" || event.AgentName(t.Owner) != c.Name { // which spares the look at the agent
		return c.Principal, nil
	}
	r, err := ReaderOf(ctx, agents, c)
	if err != nil || r.Person != t.Owner {
		return c.Principal, err
	}
	return identity.Principal{Workspace: c.Workspace, Role: identity.Agent, Name: r.Person}, nil
}
