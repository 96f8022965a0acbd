package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Accept takes an open offer: the second message of the handshake. With automatic confirm, ownership moves at once.
type Accept struct {
	By      identity.Principal
	Handoff int
	Offer   int // 0: the newest; another number than the newest is refused
}

func (c Accept) decide(t task.Task, now time.Time) ([]event.Event, error) {
	d := decision{t: t, events: make([]event.Event, 0, 4)}
	h, err := d.offered(c.By.Agent(), c.Handoff, c.Offer, now)
	if err != nil {
		return nil, err
	}
	ack := event.Acknowledged{Handoff: h.N, Offer: h.Offer, Agent: c.By.Agent()}
	if h.Confirm == event.ConfirmExplicit {
		ack.Ends = h.Times.Confirm.After(now)
		d.do(ack)
		return d.events, nil
	}
	d.do(ack, event.Confirmed{Handoff: h.N, By: h.From, Auto: true})
	d.do(moved(d.t, now))
	return d.events, nil
}

// moved is the fourth message: the receiver owns the task.
func moved(t task.Task, now time.Time) event.Moved {
	h := t.Handoff
	after := t.Standing()
	after.State, after.Owner, after.Epoch = event.Executing, h.Receiver, t.Epoch+1
	if h.Permits != nil {
		after.Permissions = h.Permits
	}
	m := event.Moved{
		Handoff: h.N, From: h.From, To: h.Receiver, Sender: task.OtherSender(&t, h), Epoch: after.Epoch, Lease: h.Times.Lease.After(now), Hop: !h.Recovery,
		Delivery: h.Envelope, After: after, At: now,
	}
	for _, c := range h.Candidates {
		if c.Agent == h.Receiver && c.Human {
			m.Human, m.Lease = true, h.Times.People().After(now)
		}
	}
	return m
}
