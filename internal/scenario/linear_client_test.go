package scenario

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/handoff"
	"github.com/trapezehq/trapeze/internal/identity"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/view"
)

// client is one of several processes that share an agent's credential.
type client struct {
	*contest
	id    int
	agent string
	rng   *rand.Rand
	known map[string]sight // what it last saw of each task
	texts int
}

// turn is what a client does once: it picks a task, perhaps looks at it, and gives a command.
func (c *client) turn() {
	slot := &c.slots[c.rng.IntN(len(c.slots))]
	task := slot.pick(c.rng)
	if _, ok := c.known[task]; !ok || c.rng.IntN(3) == 0 {
		c.do(task, wish{verb: vRead})
	}
	w := c.choose(c.known[task])
	if w.verb == vRead { // nothing to do here: look again next time
		delete(c.known, task)
		return
	}
	a := c.do(task, w)
	slot.used(c.contest, task, a.code == "" && w.verb == vComplete)
}

// choose is a command that is in order as far as the client knows, or on purpose one that is not.
func (c *client) choose(s sight) wish {
	w := wish{agent: c.agent, epoch: s.Epoch, n: s.N, text: c.text()}
	inFlight := s.Stage == fact.Offered || s.Stage == fact.Accepted
	switch dice := c.rng.IntN(100); {
	case dice < 8:
		w.verb = vTick
	case dice < 18: // out of order, most likely
		w.verb = []verb{vSend, vAccept, vReject, vWithdraw, vConfirm, vProgress, vHeartbeat, vComplete, vReplay}[c.rng.IntN(9)]
		w.epoch -= min(w.epoch, uint64(c.rng.IntN(2)))
		w.n = max(1, w.n-c.rng.IntN(2))
	case s.State == fact.Parked:
		w.verb = vReplay
	case s.Stage == fact.Offered && has(s.To, c.agent):
		w.verb = c.among(vAccept, vAccept, vAccept, vReject)
		w.offer = s.Offer * c.rng.IntN(2)
	case s.Owner == c.agent && inFlight && s.Recovery:
		w.verb = c.among(vProgress, vHeartbeat, vWithdraw, vTick)
	case s.Owner == c.agent && s.Stage == fact.Accepted:
		w.verb = c.among(vConfirm, vConfirm, vWithdraw, vTick)
	case s.Owner == c.agent && inFlight:
		w.verb = c.among(vWithdraw, vHeartbeat, vHeartbeat, vTick)
	case s.Owner == c.agent && s.State == fact.Executing:
		w.verb = c.among(vSend, vSend, vSend, vSend, vProgress, vProgress, vHeartbeat)
		if c.rng.IntN(20) == 0 {
			w.verb = vComplete
		}
	default:
		w.verb = c.among(vRead, vRead, vRead, vTick)
	}
	if w.verb == vSend {
		w.to, w.claim, w.explicit = c.receivers(), c.rng.IntN(2) == 0, c.rng.IntN(3) == 0
	}
	return w
}

func (c *client) among(verbs ...verb) verb { return verbs[c.rng.IntN(len(verbs))] }

func (c *client) text() string {
	c.texts++
	return fmt.Sprintf("%s %d.%d", c.agent, c.id, c.texts)
}

// receivers is one or two agents other than the client's own.
func (c *client) receivers() string {
	var to []string
	for _, i := range c.rng.Perm(len(contestants))[:3] {
		if a := contestants[i]; a != c.agent && len(to) < 2 {
			to = append(to, a)
		}
	}
	return strings.Join(to, ",")
}

// do makes one call, and puts it on record.
func (c *client) do(task string, w wish) answer {
	before := c.known[task]
	ctx, tr := traced(context.Background())
	called := c.history.now()
	a := c.ask(ctx, task, w)
	if w.verb == vTick {
		a.wrote, a.maybe = tr.wrote && a.code == "", !tr.wrote && tr.unknown
		a.code = ""
	}
	switch {
	case a.code == refusal.Unavailable || w.verb == vRead && a.code == refusal.Unknown: // neither says anything about the task
		c.history.count(func(t *tally) { t.unavailable++ })
		return a
	case w.verb == vRead:
		c.known[task] = a.sight
	case a.code == "" && w.verb != vTick:
		c.known[task] = a.sight
	default:
		delete(c.known, task)
	}
	c.history.add(c.id, task, w, called, a)
	c.history.count(func(t *tally) { t.note(w, a, before, tr) })
	return a
}

func (t *tally) note(w wish, a answer, before sight, tr *trace) {
	switch w.verb {
	case vRead:
		t.reads++
		return
	case vTick:
		t.ticks++
		if a.wrote {
			t.expired++
		}
		return
	}
	t.commands++
	_, no := spec{sight: before}.step(w)
	switch {
	case no != "":
		t.stale++
	case tr.beaten > 0 || a.code != "" && a.code != refusal.Unknown:
		t.lost++
	}
	if a.code == "" && a.sight.Stage == fact.Transferred {
		t.moved++
	}
	if a.code == "" && w.verb == vComplete {
		t.completed++
	}
}

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
	id := handoff.HandoffID(task, max(w.n, 1))
	var r app.Receipt
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
func look(t app.Task) sight {
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
func glance(r app.Receipt) sight {
	s := sight{State: r.State, Owner: r.Owner, Epoch: r.Epoch, Stage: r.Stage, Offer: r.Offer}
	if r.Handoff != "" {
		_, s.N, _ = handoff.ParseHandoffID(r.Handoff) //nolint:errcheck // ours
	}
	if r.Stage == fact.Offered {
		s.To = strings.Join(r.To, ",")
	}
	return s
}
