package trapezetest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// defaultWindow is the context window, in tokens, of an agent that has no description of its own: so large that nothing is left out.
// With a window, the tokens of what it is given are counted.
const defaultWindow = 200_000

// Agent is a scripted agent. It does what its script says when [Server.Run] or [Server.Wait] lets it, and nothing by itself.
type Agent struct {
	s        *Server
	name     string
	client   *client.Client
	turns    []Turn
	returned []Step

	dead     bool
	offered  map[string]int  // how many offers of a task it has answered, by task
	answered map[string]bool // offers and other items, by id, number and epoch
	jobs     []*Job          // under way, or waiting for their time
	sent     []sent          // handoffs that may come back
	remarks  []remark
}

// sent is a handoff that the agent asked for.
type sent struct {
	task, handoff string
	epoch         uint64
}

// A remark is what an agent met with that the record does not have.
type remark struct {
	at   time.Time
	task string
	text string
}

// Agent adds a scripted agent with a context window of 200,000 tokens. The first turn answers the first offer of a task, the second
// one the second offer of the same task, and so on; the last turn answers all others. Without turns, it never looks at an offer.
func (s *Server) Agent(name string, turns ...Turn) *Agent {
	s.t.Helper()
	if s.find(name) != nil {
		s.t.Fatalf("there are two scripts for the agent %s", name)
	}
	a := &Agent{s: s, name: name, client: s.Client(name), turns: turns, offered: map[string]int{}, answered: map[string]bool{}}
	s.agents = append(s.agents, a)
	return a
}

// With replaces the agent's description.
func (a *Agent) With(spec client.AgentSpec) *Agent {
	a.s.t.Helper()
	a.s.Register(a.name, spec)
	return a
}

// OnReturn says what the agent does with a task that it handed on and still owns, or gets back, since no receiver took it. Without
// steps, it does nothing, until its lease ends.
func (a *Agent) OnReturn(steps ...Step) *Agent {
	a.returned = steps
	return a
}

// A Turn is the answer of a scripted agent to an offer.
type Turn struct {
	after  time.Duration
	ignore bool
	reject client.RejectInput
	steps  []Step
}

// Accept accepts the offer, and does the steps in order. A step that the server refuses ends the job; see [Chain.NoRefusals].
func Accept(steps ...Step) Turn { return Turn{steps: steps} }

// Reject rejects the offer. With [client.MissingContext], missing names the fields that the agent lacks.
func Reject(reason client.Rejection, missing ...string) Turn {
	return Turn{reject: client.RejectInput{Reason: reason, Missing: missing}}
}

// Ignore never looks at the offer.
func Ignore() Turn { return Turn{ignore: true} }

// Slow looks at the offer, and answers it only after a time by the server's clock. An offer that was seen must be answered within 15 s,
// unless the sender gives more ([client.Timeouts]).
func Slow(after time.Duration, answer Turn) Turn {
	answer.after += after
	return answer
}

// turn is the answer to the next offer of a task.
func (a *Agent) turn(task string) Turn {
	if len(a.turns) == 0 {
		return Ignore()
	}
	n := a.offered[task]
	a.offered[task]++
	return a.turns[min(n, len(a.turns)-1)]
}

// look reads the inbox and answers what is new in it. It reports whether anything was.
func (a *Agent) look(ctx context.Context) (acted bool) {
	if a.dead {
		return false
	}
	in, err := a.client.Inbox(ctx, client.InboxOptions{Limit: 500, Peek: true})
	if err != nil {
		a.s.t.Fatalf("the inbox of %s: %v", a.name, err)
	}
	for _, item := range in.Items {
		id := fmt.Sprint(item.Type, item.ID, "/", item.Offer, "/", item.Epoch)
		if item.Notice() || a.answered[id] || a.dead {
			continue
		}
		a.answered[id] = true
		acted = a.take(ctx, item) || acted
	}
	return a.takeBack(ctx) || acted
}

// takeBack finds tasks that no receiver took, so that the agent still owns them: there is no item in the inbox for that.
func (a *Agent) takeBack(ctx context.Context) (acted bool) {
	if len(a.returned) == 0 || a.dead {
		return false
	}
	a.sent = slices.DeleteFunc(a.sent, func(s sent) bool {
		t := a.s.task(ctx, s.task)
		if t.Handoff == nil || t.Handoff.ID != s.handoff || t.Epoch != s.epoch || over(t) {
			return true
		}
		if t.State != client.Executing {
			return false
		}
		a.jobs = append(a.jobs, a.job(s.task, s.handoff, s.epoch))
		acted = true
		return true
	})
	return acted
}

// job is the work on a task that came back.
func (a *Agent) job(task, handoff string, epoch uint64) *Job {
	return &Job{Task: task, Handoff: handoff, Epoch: epoch, Client: a.client, agent: a, steps: a.returned}
}

// take answers one item of the inbox, and reports whether there was anything to do.
func (a *Agent) take(ctx context.Context, item client.Item) bool {
	switch item.Type {
	case "offer":
		return a.offer(ctx, item)
	case "confirm":
		_, err := a.client.Confirm(ctx, item.ID, client.ConfirmInput{Epoch: item.Epoch})
		a.note(item.Task, "confirm", err)
	case "resumed":
		_, err := a.client.Told(ctx, item.Task, item.Epoch)
		a.note(item.Task, "resume", err)
		i := slices.IndexFunc(a.jobs, func(j *Job) bool { return j.Task == item.Task && j.delegated })
		if i >= 0 && err == nil {
			a.jobs[i].delegated, a.jobs[i].Epoch = false, item.Epoch
		}
	case "returned":
		if len(a.returned) == 0 {
			return false
		}
		a.jobs = append(a.jobs, a.job(item.Task, item.ID, item.Epoch))
	default:
		return false
	}
	return true
}

// offer answers an offer, now or later.
func (a *Agent) offer(ctx context.Context, item client.Item) bool {
	turn := a.turn(item.Task)
	if turn.ignore {
		return false
	}
	if turn.after > 0 {
		_, err := a.client.Inbox(ctx, client.InboxOptions{Limit: 500, See: true})
		a.note(item.Task, "look", err)
	}
	j := &Job{Task: item.Task, Handoff: item.ID, Client: a.client, agent: a, at: a.s.Now().Add(turn.after)}
	answer := Step{"accept", func(ctx context.Context, j *Job) error { return j.accept(ctx, item.Offer) }}
	if turn.reject.Reason != "" {
		turn.reject.Offer = item.Offer
		answer = Step{"reject", func(ctx context.Context, j *Job) error {
			_, err := j.Client.Reject(ctx, j.Handoff, turn.reject)
			return err
		}}
	}
	j.steps = append([]Step{answer}, turn.steps...)
	a.jobs = append(a.jobs, j)
	return true
}

// work goes on with the jobs whose time has come, and reports whether there were any.
func (a *Agent) work(ctx context.Context) (acted bool) {
	for _, j := range slices.Clone(a.jobs) {
		for !a.dead && j.ready() {
			acted = true
			j.step(ctx)
		}
	}
	a.jobs = slices.DeleteFunc(a.jobs, func(j *Job) bool { return len(j.steps) == 0 })
	return acted
}

// wakes is when the next job goes on; zero: none will by itself.
func (a *Agent) wakes() (next time.Time) {
	for _, j := range a.jobs {
		if at, ok := j.next(); ok && !a.dead && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// note remembers a refusal.
func (a *Agent) note(task, call string, err error) {
	if err != nil {
		a.remark(task, fmt.Sprintf("%s was refused: %v", call, err))
	}
}

func (a *Agent) remark(task, text string) {
	a.remarks = append(a.remarks, remark{at: a.s.Now(), task: task, text: text})
}
