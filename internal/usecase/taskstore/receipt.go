package taskstore

import (
	"context"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Receipt is the answer to a call that changes a task: how the task stands after it, and where that is recorded.
type Receipt struct {
	Task    string      `json:"task"`
	State   event.State `json:"state"`
	Owner   string      `json:"owner,omitempty"`
	Epoch   uint64      `json:"epoch"`
	Handoff string      `json:"handoff,omitempty"` // id of the newest handoff; none if the call moved the task to the dead letters without one
	Stage   event.Stage `json:"stage,omitempty"`
	Offer   int         `json:"offer,omitempty"`
	To      []string    `json:"to,omitempty"` // who has the open offer
	// Children of a fan-out or a delegation, the newest spawn's only.
	Children []string `json:"children,omitempty"`
	// NotReached are the agents that should have got one of these, and why they could not be reached.
	NotReached map[string]string `json:"not_reached,omitempty"`
	// Takeover and Share are the ids of a request to take over and of a shared envelope, where the call made one.
	Takeover string          `json:"ask,omitempty"`
	Share    string          `json:"share,omitempty"`
	Ticket   string          `json:"ticket,omitempty"`   // id of the ticket that the call opened or is about
	Envelope string          `json:"envelope,omitempty"` // digest of the newest
	Given    string          `json:"given,omitempty"`    // digest of what the owner was given: that envelope, or what was packed of it
	Sealed   *Sealed         `json:"sealed,omitempty"`   // what the call put into an envelope for the next owner
	Lease    time.Time       `json:"lease,omitzero"`     // until when the owner must show life
	Parked   *task.ParkedFor `json:"parked,omitempty"`
	// Decision is what the policy made of a handoff to auto, where the call asked for one and was not a repeat.
	Decision *event.Decision `json:"decision,omitempty"`
	Position ledger.Position `json:"position"`
	Events   []string        `json:"events"`           // names of what this call recorded; none if nothing had to change
	Repeat   bool            `json:"repeat,omitempty"` // this is the answer to the first call with the same key
}

// At returns the position up to which the answer is true.
func (r Receipt) At() ledger.Position { return r.Position }

// Receipt is [ReceiptOf] for the caller of the call. Where it names children, they are there: see [Store.OnSpawned].
func (s *Store) Receipt(ctx context.Context, c caller.Caller, o stream.Outcome[task.Task]) Receipt {
	r := ReceiptOf(o)
	if len(r.Children) > 0 && s.hooks.spawned != nil {
		_ = s.hooks.spawned(ctx, c, r.Task, r.Position) // it is recorded, and will be done
	}
	return r
}

// ReceiptOf is the answer to a call with an outcome.
func ReceiptOf(o stream.Outcome[task.Task]) Receipt {
	t := o.State
	r := Receipt{
		Task: t.ID, State: t.State, Owner: t.Owner, Epoch: t.Epoch, Envelope: t.Envelope, Given: t.Held, Lease: t.Lease,
		Position: o.At, Events: make([]string, 0, len(o.Events)), Repeat: o.Repeat, Sealed: sealedIn(o.Events),
	}
	if h := t.InFlight(); h != nil && h.Kind == event.Cold {
		r.Envelope = h.Envelope
	}
	if h := t.Handoff; h != nil && !stopped(o.Events) {
		r.Handoff, r.Stage, r.Offer, r.To = h.ID(t.ID), h.Stage, h.Offer, h.To
	}
	if t.State == event.Parked {
		r.Parked = t.Parked
	}
	for _, e := range o.Events {
		r.Events = append(r.Events, e.Name)
		switch e.Name {
		case event.Spawned{}.EventName():
			r.NotReached = NotReached(t.Missed)
			for _, c := range t.Children {
				if c.Group == t.Children[len(t.Children)-1].Group {
					r.Children = append(r.Children, c.Task)
				}
			}
		case event.TakeoverAsked{}.EventName():
			r.Takeover = event.TakeoverID(t.ID, t.TakeoverCount)
		case event.TicketOpened{}.EventName(), event.ApprovalAsked{}.EventName():
			if t.Ticket != nil {
				r.Ticket = event.TicketID(t.ID, t.Ticket.N)
			}
		case event.Shared{}.EventName():
			r.Share = event.ShareID(t.ID, len(t.Shares))
		}
	}
	return r
}

// stopped reports whether events moved a task to the dead letters, and are of no handoff.
func stopped(events []ledger.Event) bool {
	parked := false
	for _, e := range events {
		if strings.HasPrefix(e.Name, "handoff-") {
			return false
		}
		parked = parked || e.Name == (event.ParkedTask{}).EventName()
	}
	return parked
}

// NotReached are the reasons for which agents could not be reached, by their names.
func NotReached(missed []event.Passed) map[string]string {
	reasons := map[string]string{}
	for _, p := range missed {
		reasons[p.Agent] = p.Why
	}
	return reasons
}
