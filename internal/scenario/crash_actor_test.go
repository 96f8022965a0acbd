//go:build slow || outside

package scenario

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	api "github.com/trapezehq/trapeze/client"
)

// actor is one client process. Several actors may share an agent's token.
type actor struct {
	*crew
	id        int
	principal string // "agent/NAME" or "operator/NAME"
	agent     string // empty for operators
	token     string
	rng       *rand.Rand
	api       *api.Client
	mine      []api.Receipt // tasks that it works on, as it last knew them
	made      []string      // tasks that it created
	deeds     []*deed
	seen      []*seen
	wants     int
}

// crew is all clients of one server.
type crew struct {
	rig      *rig
	number   int           // of several
	think    time.Duration // between two calls of an actor, on average
	actors   []*actor
	agents   []string
	tokens   map[string]string // of agents
	operator string            // the token of one
	admin    *api.Client

	acked atomic.Int64 // acknowledged changes
	cut   atomic.Int64 // changing calls that a kill cut off
	// kept counts those of them that had been applied.
	kept    atomic.Int64
	refused atomic.Int64
}

// work lets every actor take turns until ctx ends. It finishes calls under way, through any number of kills.
func (c *crew) work(ctx context.Context) (wait func()) {
	var wg sync.WaitGroup
	for _, a := range c.actors {
		wg.Go(func() {
			for ctx.Err() == nil {
				a.turn()
				a.thinks(ctx)
			}
		})
	}
	return wg.Wait
}

// thinks returns when the actor does the next thing.
func (a *actor) thinks(ctx context.Context) {
	if a.think == 0 {
		return
	}
	select {
	case <-time.After(time.Duration(a.rng.Int64N(int64(2 * a.think)))):
	case <-ctx.Done():
	}
}

// soon is when a call is made again that was refused for now, or whose connection broke.
func (c *crew) soon() <-chan time.Time { return time.After(time.Millisecond + c.think/10) }

// turn is what an actor does once.
func (a *actor) turn() {
	if a.agent == "" {
		a.oversee()
		return
	}
	switch n := a.rng.IntN(100); {
	case len(a.mine) > 0 && (n < 60 || len(a.mine) > 3):
		a.labour()
	case n < 85:
		if !a.inbox(0) {
			a.create()
		}
	case n < 90:
		a.adopt(nil)
	case n < 95:
		a.look()
	default:
		a.create()
	}
}

// ask makes a call until it has a definite answer, under one key and through any number of kills. If it has none after a long time, the test fails.
func (a *actor) ask(what string, do func(context.Context, *api.Client) (api.Receipt, error)) (api.Receipt, bool) {
	d := &deed{who: a, what: what, key: api.NewKey(), do: do, began: time.Now()}
	defer func() { d.ended = time.Now() }()
	a.deeds = append(a.deeds, d)
	for end := time.Now().Add(2 * patience); ; {
		gen := a.connect()
		r, err := do(api.WithKey(context.Background(), d.key), a.api)
		if err != nil && time.Now().After(end) {
			a.rig.Errorf("%s at %s has no definite answer after %s: %v", d, a.api.URL(), 2*patience, err)
			return api.Receipt{}, false
		}
		var refused *api.Error
		switch {
		case err == nil:
			if d.receipt, d.done = r, true; len(r.Events) > 0 {
				a.acked.Add(1)
			}
			if d.cut > 0 && r.Repeat {
				a.kept.Add(1)
			}
			return r, true
		case !errors.As(err, &refused): // the connection broke
			if d.gen != gen {
				d.gen = gen
				d.cut++
				a.cut.Add(1)
			}
			<-a.soon() // it is dying, or dead
			continue
		case refused.Code == api.Unavailable && len(refused.Details) == 0 || refused.Code == api.Unknown: // for now; with details: nobody can take it
			<-a.soon()
			continue
		}
		d.refused, d.done = refused.Code, true
		a.refused.Add(1)
		bad := refused.Code == api.Invalid || refused.Code == api.Unauthenticated || refused.Code == api.NotPermitted
		if bad && a.rig.mode == modeServe { // with a planted bug, tokens may be lost too
			a.rig.Errorf("%s: %v", d, refused)
		}
		return api.Receipt{}, false
	}
}

// connect returns when there is a server.
func (a *actor) connect() (gen int) {
	url, gen := a.rig.wait()
	if a.api == nil || a.api.URL() != url {
		if a.api != nil {
			a.api.Close()
		}
		var err error
		if a.api, err = api.New(url, a.token, api.Options{Retries: -1, Timeout: patience, Connections: 2}); err != nil {
			panic(err) // the server's own URL
		}
	}
	return gen
}

// read makes a call that changes nothing. It is not repeated.
func (a *actor) read(do func(*api.Client) error) bool {
	a.connect()
	err := do(a.api)
	if refused := (*api.Error)(nil); err != nil && !errors.As(err, &refused) {
		<-a.soon() // it is dying, or dead
	}
	return err == nil
}

func (a *actor) intent() string {
	a.wants++
	return fmt.Sprintf("wish %d of client %d, %s", a.wants, a.id, strings.Repeat("lorem ", a.rng.IntN(40)))
}

// others are up to n agents that are not this one.
func (a *actor) others(n int) []string {
	var to []string
	for _, i := range a.rng.Perm(len(a.agents)) {
		if name := a.agents[i]; name != a.agent && len(to) < n {
			to = append(to, name)
		}
	}
	return to
}

func (a *actor) create() {
	in := api.CreateInput{Intent: a.intent()}
	if a.agent != "" && a.rng.IntN(2) == 0 {
		in.Start = true
	} else {
		in.Send = a.sending()
		in.Send.Confirm = "" // who has no owner cannot be asked
	}
	r, ok := a.ask("create", func(ctx context.Context, c *api.Client) (api.Receipt, error) { return c.CreateTask(ctx, in) })
	if !ok {
		return
	}
	a.made = append(a.made, r.Task)
	if in.Start {
		a.mine = append(a.mine, r)
	}
}

// sending is one of the ways to hand a task off.
func (a *actor) sending() *api.SendInput {
	in := &api.SendInput{
		To: a.others(1 + a.rng.IntN(2)), Reason: api.ReasonSpecialization, Detail: "you know this better",
		Content: api.Content{Decisions: []api.Point{{Text: fmt.Sprint("decision ", a.rng.IntN(1000))}}},
	}
	switch n := a.rng.IntN(100); {
	case n < 15:
		in.Kind, in.FanOut, in.To = api.Broadcast, true, a.others(2+a.rng.IntN(2))
	case n < 20:
		in.Kind = api.Broadcast
	case n < 27:
		in.Kind, in.To = api.Delegation, in.To[:1]
	case n < 35 && a.agent != "":
		in.Confirm = api.ConfirmExplicit
	}
	return in
}

// labour continues one of the actor's tasks.
func (a *actor) labour() {
	i := a.rng.IntN(len(a.mine))
	t := a.mine[i]
	drop := true
	switch n := a.rng.IntN(100); {
	case n < 30:
		in := api.ProgressInput{Epoch: t.Epoch, Note: fmt.Sprint("step ", a.rng.IntN(1000))}
		_, ok := a.ask("progress", func(ctx context.Context, c *api.Client) (api.Receipt, error) { return c.Progress(ctx, t.Task, in) })
		drop = !ok
	case n < 60:
		in := *a.sending()
		in.Epoch = t.Epoch
		a.ask("send", func(ctx context.Context, c *api.Client) (api.Receipt, error) { return c.Send(ctx, t.Task, in) })
	case n < 63:
		in := api.FailInput{Epoch: t.Epoch, Detail: "it cannot be done"}
		a.ask("fail", func(ctx context.Context, c *api.Client) (api.Receipt, error) { return c.Fail(ctx, t.Task, in) })
	case n < 66:
		a.cancel(t.Task)
	case n < 72:
		in := api.AskInput{Epoch: t.Epoch, Question: fmt.Sprint("which of ", a.rng.IntN(1000), "?")}
		a.ask("ask people", func(ctx context.Context, c *api.Client) (api.Receipt, error) { return c.Ask(ctx, t.Task, in) })
	default:
		a.complete(t.Task, t.Epoch)
	}
	if drop {
		a.mine = slices.Delete(a.mine, i, i+1)
	}
}

func (a *actor) complete(task string, epoch uint64) {
	in := api.CompleteInput{Epoch: epoch, Result: api.Result{Text: fmt.Sprint("done by ", a.id)}}
	a.ask("complete", func(ctx context.Context, c *api.Client) (api.Receipt, error) { return c.Complete(ctx, task, in) })
}

func (a *actor) cancel(task string) {
	a.ask("cancel", func(ctx context.Context, c *api.Client) (api.Receipt, error) {
		return c.Cancel(ctx, task, api.CancelInput{Detail: "not needed"})
	})
}

// inbox answers one item of the agent's inbox; it reports whether there was any.
func (a *actor) inbox(wait time.Duration) bool {
	var in api.Inbox
	if !a.read(func(c *api.Client) (err error) {
		in, err = c.Inbox(context.Background(), api.InboxOptions{Wait: wait})
		return err
	}) || len(in.Items) == 0 {
		return false
	}
	a.answer(in.Items[a.rng.IntN(len(in.Items))], a.rng.IntN(10) == 0)
	return !in.Items[0].Notice()
}

func (a *actor) answer(item api.Item, reject bool) {
	switch {
	case item.Type == "confirm":
		a.ask("confirm", func(ctx context.Context, c *api.Client) (api.Receipt, error) {
			return c.Confirm(ctx, item.ID, api.ConfirmInput{Epoch: item.Epoch})
		})
	case item.Type == "stranded", item.Type == "returned":
		a.cancel(item.ID)
	case item.Type == "resumed":
		a.complete(item.Task, item.Epoch)
	case item.Notice(): // it needs no answer
	case item.Type != "offer":
		a.rig.Errorf("nobody has made a %s", item.Type)
	case reject:
		in := api.RejectInput{Offer: item.Offer, Reason: api.Overloaded}
		a.ask("reject", func(ctx context.Context, c *api.Client) (api.Receipt, error) { return c.Reject(ctx, item.ID, in) })
	default:
		r, ok := a.ask("accept", func(ctx context.Context, c *api.Client) (api.Receipt, error) {
			got, err := c.Accept(ctx, item.ID, api.AcceptInput{Offer: item.Offer})
			return got.Receipt, err
		})
		if ok && r.Owner == a.agent {
			a.mine = append(a.mine, r)
		}
	}
}

// adopt takes up a task that the agent owns: one that came back, or whose children have ended. It passes those of the
// tasks that it finds to each, if there is one.
func (a *actor) adopt(each func(api.TaskRow)) {
	var page api.TaskPage
	if !a.read(func(c *api.Client) (err error) {
		page, err = c.Tasks(context.Background(), api.TaskFilter{Owner: a.agent, State: api.Executing, Limit: 50})
		return err
	}) {
		return
	}
	for _, row := range page.Tasks {
		if each != nil {
			each(row)
			continue
		}
		if a.rng.IntN(5) == 0 {
			a.mine = append(a.mine, api.Receipt{Task: row.ID, Epoch: row.Epoch})
		}
	}
}

// oversee is an operator's turn.
func (a *actor) oversee() {
	switch n := a.rng.IntN(100); {
	case n < 10 && len(a.made) > 0:
		a.cancel(a.made[a.rng.IntN(len(a.made))])
	case n < 20:
		a.revive()
	case n < 50:
		a.tell(5)
	case n < 75:
		a.look()
	default:
		a.create()
	}
}

// tell answers up to n of the oldest questions.
func (a *actor) tell(n int) {
	var page api.TicketPage
	if !a.read(func(c *api.Client) (err error) {
		page, err = c.Tickets(context.Background(), api.TicketFilter{Kind: "question", Limit: n})
		return err
	}) {
		return
	}
	for _, k := range page.Tickets {
		a.ask("tell", func(ctx context.Context, c *api.Client) (api.Receipt, error) {
			return c.Answer(ctx, k.ID, api.AnswerInput{Answer: fmt.Sprint("the one that ", a.id, " likes")})
		})
	}
}

// revive replays the newest dead letter, or discards it.
func (a *actor) revive() {
	var page api.TaskPage
	if !a.read(func(c *api.Client) (err error) {
		page, err = c.Dead(context.Background(), "", 1)
		return err
	}) || len(page.Tasks) == 0 {
		return
	}
	id := page.Tasks[0].ID
	a.ask("revive", func(ctx context.Context, c *api.Client) (api.Receipt, error) {
		if a.id%2 == 0 {
			return c.Replay(ctx, id, api.ReplayInput{To: a.agents[:1]})
		}
		return c.Discard(ctx, id, "nobody wants it")
	})
}

// finish lets all actors end their tasks, until every task has ended or is in the dead letters.
func (c *crew) finish(ctx context.Context) error { return finish(ctx, c) }

// finish does so for several crews, which have clients of all agents together.
func finish(ctx context.Context, crews ...*crew) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	ended, end := context.WithCancel(ctx)
	defer end()
	for _, c := range crews {
		for _, a := range c.actors {
			if a.agent == "" {
				continue
			}
			wg.Go(func() {
				for ended.Err() == nil {
					a.adopt(func(row api.TaskRow) { a.complete(row.ID, row.Epoch) })
					a.inbox(50 * time.Millisecond)
				}
			})
		}
	}
	first := crews[0]
	operator := first.actors[len(first.actors)-1]
	var err error // a server that was paused may not reach the others yet
	for least, deadline := math.MaxInt, time.Now().Add(patience); ctx.Err() == nil && time.Now().Before(deadline); <-first.soon() {
		operator.tell(500)
		var left int
		if left, err = operator.clear(); err == nil && left == 0 {
			return nil
		}
		if err == nil && left < least {
			least, deadline = left, time.Now().Add(patience)
		}
	}
	return errors.Join(errors.New("tasks are left that do not end"), err)
}

// clear cancels tasks without an owner, and counts those that have not ended.
func (a *actor) clear() (left int, err error) {
	a.connect()
	for after := ""; ; {
		page, err := a.api.Tasks(context.Background(), api.TaskFilter{Live: true, Limit: 500, After: after})
		if err != nil {
			return 0, err
		}
		for _, row := range page.Tasks {
			switch {
			case row.State == api.Parked && row.Parent == "": // the dead letters are an end
				continue
			case row.State == api.Parked: // but a parent may wait for it
				a.ask("discard", func(ctx context.Context, c *api.Client) (api.Receipt, error) {
					return c.Discard(ctx, row.ID, "nobody wants it")
				})
			case row.State == api.Pending:
				a.cancel(row.ID)
			}
			left++
		}
		if after = page.Next; after == "" {
			return left, nil
		}
	}
}

// deeds returns all changing calls of the clients, which must not be at work.
func (c *crew) deeds() (all []*deed) {
	for _, a := range c.actors {
		all = append(all, a.deeds...)
	}
	return all
}
