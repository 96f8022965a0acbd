package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// Approve lets a supervised handoff continue. The approval covers one envelope and its receivers, and no other. The
// approver is neither the source nor the principal that requested the handoff for it, in any role.
type Approve struct {
	By      identity.Principal
	Handoff int
	Digest  string // of the envelope that the approver has seen; empty: the handoff's
	Current bool   // the digest is of what the receiver would be given now
	Detail  string
	Hints   Hints
}

func (c Approve) decide(t task.Task, now time.Time) ([]event.Event, error) {
	h, err := approvable(t, c.By, c.Handoff, now)
	if err != nil {
		return nil, err
	}
	if err := event.CheckField("detail", c.Detail); err != nil {
		return nil, err
	}
	if c.Digest != "" && !c.Current && (c.Digest != h.Envelope || h.Amended) {
		return nil, refusal.New(refusal.Conflict, "[look at its content](handoff content) again, and approve by the digest that this has", "handoff %s has another envelope", h.ID(t.ID))
	}
	e := event.Approved{By: c.By.Short(), Detail: c.Detail, Envelope: h.Envelope, Deadline: t.Extended(now), At: now}
	for _, k := range h.Candidates {
		e.To = append(e.To, k.Who())
	}
	if t.Owner != "" {
		e.Lease = t.LeaseFrom(now)
	}
	d := decision{t: t}
	d.do(e)
	if passed, ok := d.offerFrom(0, nil, c.Hints, now); !ok {
		return nil, noReceiver(passed, "the handoff still waits for approval; approve it later, or deny it")
	}
	return d.events, nil
}

// approvable returns the handoff that a principal may approve or deny now.
func approvable(t task.Task, by identity.Principal, n int, now time.Time) (*task.Handoff, error) {
	if err := authority.Over(t, by, n); err != nil {
		return nil, err
	}
	h := t.InFlight()
	if h.Stage != event.AwaitingApproval {
		return nil, refusal.New(refusal.Conflict, "[fetch the handoff](handoff show) and look at its stage", "handoff %s does not wait for an approval",
			event.HandoffID(t.ID, n))
	}
	switch {
	case by.Short() == h.From || person(by.String()) == person(h.From) || person(by.String()) == person(h.By):
		return nil, refusal.New(refusal.NotPermitted, "ask somebody else", "nobody approves a handoff that they asked for")
	case h.Approver != "" && h.Approver != by.Agent() && !by.IsOperator():
		return nil, refusal.New(refusal.NotPermitted, "ask "+h.Approver+" or an operator", "%s is not the approver", by.Short())
	case h.Approver == "" && !by.IsOperator():
		return nil, refusal.New(refusal.NotPermitted, "wait for an operator, who sees it among the handoffs that wait for approval", "only an operator approves this handoff")
	}
	return h, requireNotKept(t, by, t.OpenTicket(), now)
}
