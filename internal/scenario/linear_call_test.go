//go:build slow || outside

package scenario

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
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

func (c *client) once(ctx context.Context, node *usecase.UseCases, key, task string, w wish) answer {
	if c.rewrite != nil {
		w = c.rewrite(ctx, node, c.harness, task, w)
	}
	me := c.harness.agent(w.agent).WithKey(key)
	operator := c.harness.operator()
	id := event.HandoffID(task, max(w.n, 1))
	var r taskstore.Receipt
	var err error
	switch w.verb {
	case vRead:
		t, err := node.Tasks.Show(ctx, operator, task)
		return answer{code: c.code(err), sight: look(t)}
	case vTick:
		return answer{code: c.code(node.FollowUp.Tick(ctx, view.Ref{Workspace: identity.DefaultWorkspace, Task: task}))}
	case vCreate:
		r, err = node.Tasks.Create(ctx, me, c.newTask())
	case vSend:
		r, err = node.Tasks.Send(ctx, me, sendInput(task, w))
	case vAccept:
		var got tasks.Accepted
		got, err = node.Tasks.Accept(ctx, me, tasks.AcceptInput{Handoff: id, Offer: w.offer})
		r = got.Receipt
	case vReject:
		r, err = node.Tasks.Reject(ctx, me, tasks.RejectInput{Handoff: id, Offer: w.offer, Reason: event.Overloaded})
	case vWithdraw:
		r, err = node.Tasks.Cancel(ctx, me, tasks.CancelInput{ID: id, Epoch: w.epoch})
	case vConfirm:
		r, err = node.Tasks.Confirm(ctx, me, tasks.ConfirmInput{Handoff: id, Epoch: w.epoch})
	case vProgress:
		r, err = node.Tasks.Progress(ctx, me, tasks.ProgressInput{Task: task, Epoch: w.epoch, Note: w.text})
	case vHeartbeat:
		r, err = node.Tasks.Heartbeat(ctx, me, tasks.HeartbeatInput{Task: task, Epoch: w.epoch})
	case vComplete:
		r, err = node.Tasks.Complete(ctx, me, tasks.CompleteInput{Task: task, Epoch: w.epoch, Result: event.Result{Text: w.text}})
	case vReplay:
		r, err = node.Tasks.Replay(ctx, operator.WithKey(key), tasks.ReplayInput{Task: task, Home: true})
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
		c.harness.Errorf("not a refusal: %v", err)
		return refusal.Unavailable
	}
	return code
}

func sendInput(task string, w wish) handoffs.SendInput {
	in := handoffs.SendInput{
		Task: task, Epoch: w.epoch, To: strings.Split(w.to, ","), ReturnHome: true,
		Content: envelopes.Content{Decisions: []envelopes.Point{{ID: "d", Text: w.text}}}, // new work: going back is no loop
	}
	if w.claim {
		in.Kind = event.Broadcast
	}
	if w.explicit {
		in.Confirm = event.ConfirmExplicit
	}
	return in
}

// newTask has clocks that are due soon, some so short that they are due all the time, and limits that are never met.
func (c *client) newTask() *tasks.CreateInput {
	d := func() event.Duration {
		return event.Duration(10<<c.rng.IntN(8)) * event.Duration(time.Millisecond)
	}
	return &tasks.CreateInput{
		Intent: "be fought over", Start: true,
		Timeouts: event.Timeouts{Offer: d(), Confirm: d(), Lease: d()},
		Limits:   event.Limits{Hops: 1000, Handoffs: 1000, Visits: 1000, Escalations: 1000, Attempts: 1000},
	}
}

// look is a task as a reader sees it.
func look(t taskstore.Task) sight {
	s := sight{State: t.State, Owner: t.Owner, Epoch: t.Epoch, Note: t.Progress}
	if t.Result != nil {
		s.Result = t.Result.Text
	}
	if h := t.Handoff; h != nil {
		s.N, s.Stage, s.Offer, s.Recovery = h.N, h.Stage, h.Offer, h.Recovery
		if h.Stage == event.Offered {
			s.To = strings.Join(h.To, ",")
		}
		if h.Stage == event.Accepted {
			s.Receiver = h.Receiver
		}
	}
	return s
}

// glance is a task as a receipt shows it.
func glance(r taskstore.Receipt) sight {
	s := sight{State: r.State, Owner: r.Owner, Epoch: r.Epoch, Stage: r.Stage, Offer: r.Offer}
	if r.Handoff != "" {
		_, s.N, _ = event.ParseHandoffID(r.Handoff)
	}
	if r.Stage == event.Offered {
		s.To = strings.Join(r.To, ",")
	}
	return s
}
