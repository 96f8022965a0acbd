package scenario

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/identity"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/view"
)

// ask makes the call through one of the nodes. Every other client repeats it while its outcome is unknown, with the
// same key, as a good client does; for the others it stays unknown.
func (c *client) ask(ctx context.Context, task string, w wish) answer {
	key := fmt.Sprintf("contest-%d-%d", c.id, keys.Add(1))
	for range 1 + 5*(c.id%2) {
		if c.keyless {
			key = ""
		}
		a := c.once(ctx, c.nodes[c.rng.IntN(len(c.nodes))], key, task, w)
		if a.code != refusal.Unknown || w.verb == vTick || w.verb == vRead {
			return a
		}
		<-time.After(time.Duration(c.rng.Int64N(int64(2 * lateness)))) // what is late may come meanwhile
	}
	return answer{code: refusal.Unknown}
}

func (c *client) once(ctx context.Context, node *app.App, key, task string, w wish) answer {
	if c.rewrite != nil {
		w = c.rewrite(ctx, node, c.house, task, w)
	}
	me := c.house.agent(w.agent).WithKey(key)
	operator := c.house.operator()
	id := fact.HandoffID(task, max(w.n, 1))
	var r docket.Receipt
	var err error
	switch w.verb {
	case vRead:
		t, err := node.Task(ctx, operator, task)
		return answer{code: c.code(err), sight: look(t)}
	case vTick:
		return answer{code: c.code(node.Tick(ctx, view.Ref{Workspace: identity.DefaultWorkspace, Task: task}))}
	case vCreate:
		r, err = node.Create(ctx, me, c.newTask())
	case vSend:
		r, err = node.Send(ctx, me, sendInput(task, w))
	case vAccept:
		var got app.Accepted
		got, err = node.Accept(ctx, me, app.AcceptInput{Handoff: id, Offer: w.offer})
		r = got.Receipt
	case vReject:
		r, err = node.Reject(ctx, me, app.RejectInput{Handoff: id, Offer: w.offer, Why: fact.Overloaded})
	case vWithdraw:
		r, err = node.Cancel(ctx, me, app.CancelInput{ID: id, Epoch: w.epoch})
	case vConfirm:
		r, err = node.Confirm(ctx, me, app.ConfirmInput{Handoff: id, Epoch: w.epoch})
	case vProgress:
		r, err = node.Progress(ctx, me, app.ProgressInput{Task: task, Epoch: w.epoch, Note: w.text})
	case vHeartbeat:
		r, err = node.Heartbeat(ctx, me, app.HeartbeatInput{Task: task, Epoch: w.epoch})
	case vComplete:
		r, err = node.Complete(ctx, me, app.CompleteInput{Task: task, Epoch: w.epoch, Result: fact.Result{Text: w.text}})
	case vReplay:
		r, err = node.Replay(ctx, operator.WithKey(key), app.ReplayInput{Task: task, Home: true})
	}
	if err != nil {
		return answer{code: c.code(err)}
	}
	return answer{sight: glance(r), partial: true}
}

// code is the code of a refusal. Any other error ends the test.
func (c *client) code(err error) refusal.Code {
	if err == nil {
		return ""
	}
	code := refusal.CodeOf(err)
	if code == "" {
		c.house.Errorf("not a refusal: %v", err)
		return refusal.Unavailable
	}
	return code
}

func sendInput(task string, w wish) app.SendInput {
	in := app.SendInput{
		Task: task, Epoch: w.epoch, To: strings.Split(w.to, ","), ReturnHome: true,
		Content: app.Content{Decisions: []app.Point{{ID: "d", Text: w.text}}}, // new work: going back is no loop
	}
	if w.claim {
		in.Kind = fact.Broadcast
	}
	if w.explicit {
		in.Confirm = fact.ConfirmExplicit
	}
	return in
}

// newTask has clocks that are due soon, some so short that they are due all the time, and limits that are never met.
func (c *client) newTask() app.CreateInput {
	d := func() fact.Duration {
		return fact.Duration(10<<c.rng.IntN(8)) * fact.Duration(time.Millisecond)
	}
	return app.CreateInput{
		Intent: "be fought over", Start: true,
		Timeouts: fact.Timeouts{Offer: d(), Confirm: d(), Lease: d()},
		Limits:   fact.Limits{Hops: 1000, Handoffs: 1000, Visits: 1000, Escalations: 1000, Attempts: 1000},
	}
}

// look is a task as a reader sees it.
func look(t docket.Task) sight {
	s := sight{State: t.State, Owner: t.Owner, Epoch: t.Epoch, Note: t.Progress}
	if t.Result != nil {
		s.Result = t.Result.Text
	}
	if h := t.Handoff; h != nil {
		s.N, s.Stage, s.Offer, s.Recovery = h.N, h.Stage, h.Offer, h.Recovery
		if h.Stage == fact.Offered {
			s.To = strings.Join(h.To, ",")
		}
		if h.Stage == fact.Accepted {
			s.Receiver = h.Receiver
		}
	}
	return s
}

// glance is a task as a receipt shows it.
func glance(r docket.Receipt) sight {
	s := sight{State: r.State, Owner: r.Owner, Epoch: r.Epoch, Stage: r.Stage, Offer: r.Offer}
	if r.Handoff != "" {
		_, s.N, _ = fact.ParseHandoffID(r.Handoff)
	}
	if r.Stage == fact.Offered {
		s.To = strings.Join(r.To, ",")
	}
	return s
}
