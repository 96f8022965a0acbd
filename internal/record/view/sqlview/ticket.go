package sqlview

import (
	"cmp"
	"encoding/json"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// ticket is a ticket that has changed. first is the position of the entry that opened it, if it is new.
type ticket struct {
	view.TicketRow
	first ledger.Position
}

// tells returns the agents whose watchers are told of the ticket; "" is the operators.
func (k *ticket) tells() [4]string {
	return [4]string{"", agentOf(k.By), k.To, agentOf(k.ClaimedBy)}
}

// noteTicket keeps a change of the task's ticket until the entry is written. before is the ticket before the event.
func (t *taskFold) noteTicket(before *task.Ticket, e *ledger.Entry) {
	s := &t.state
	if s.Ticket == before || s.Ticket == nil {
		return
	}
	if before != nil && before.N != s.Ticket.N && before.State != event.TicketStateClosed { // closed by the event that opened the next one
		over := *before
		over.State, over.Outcome, over.ClosedBy, over.Closed = event.TicketStateClosed, event.TicketResolved, s.Owner, s.Ticket.Opened
		t.change(&over, e)
	}
	t.change(s.Ticket, e)
	s.Answers = nil
}

// change keeps a changed ticket, in place of an earlier change that has not been written.
func (t *taskFold) change(k *task.Ticket, e *ledger.Entry) {
	s := &t.state
	v := view.TicketRow{
		ID: event.TicketID(t.id, k.N), Task: t.id, Intent: s.Intent, Requester: s.Requester, Priority: s.Priority, Ticket: *k, At: e.Position,
	}
	if s.Handoff != nil && k.Kind == event.TicketApproval {
		v.Envelope = s.Handoff.Envelope
	}
	for i := range t.tickets {
		if t.tickets[i].N == k.N {
			t.tickets[i].TicketRow = v
			return
		}
	}
	t.tickets = append(t.tickets, ticket{v, e.Position})
}

// writeTickets writes the tickets that have changed.
func (p *projector) writeTickets(t *taskFold) error {
	for i := range t.tickets {
		v := &t.tickets[i]
		row, err := json.Marshal(&v.TicketRow)
		if err != nil {
			return err
		}
		asks, claimed := agentOf(v.By), agentOf(v.ClaimedBy)
		if _, err := p.putTicket.Exec(t.workspace, v.ID, v.first, t.id, string(v.State), v.State != event.TicketStateClosed, string(v.Kind), v.Desk, asks, v.To,
			cmp.Or(claimed, v.ClaimedBy), view.Microseconds(v.Due), view.Microseconds(v.Closed), row); err != nil {
			return err
		}
		for _, who := range v.tells() {
			p.touched = append(p.touched, topic{workspace: t.workspace, agent: who})
		}
	}
	t.tickets = nil
	return nil
}

// ticketStatement is the statement of the projector for tickets.
type ticketStatement struct{ putTicket *sqlconn.Stmt }
