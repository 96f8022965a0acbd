package handoff

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Examples of tasks in every state and of handoffs in every stage, each reached by commands.

type example struct {
	name string
	task task.Task
	now  time.Time // the moment at which the matrix applies its commands
}

// builder plays commands that must all be accepted.
type builder struct {
	t    *testing.T
	task task.Task
	now  time.Time
}

func build(t *testing.T, commands ...func(task.Task) Command) builder {
	t.Helper()
	b := builder{t: t, now: t0}
	return b.then(commands...)
}

func (b builder) then(commands ...func(task.Task) Command) builder {
	b.t.Helper()
	for _, c := range commands {
		b.now = b.now.Add(time.Second)
		after, events, err := realRules.apply(b.task, c(b.task), b.now)
		if err != nil || len(events) == 0 {
			_, err2 := Decide(b.task, c(b.task), b.now)
			b.t.Fatalf("%s: %v %v", describe(c(b.task)), err, err2)
		}
		if err := sound(after); err != nil {
			b.t.Fatal(err)
		}
		b.task = after
	}
	return b
}

func (b builder) wait(d time.Duration) builder {
	b.now = b.now.Add(d)
	return b
}

func (b builder) as(name string) example { return example{name, b.task, b.now.Add(time.Second)} }

func create(task.Task) Command {
	return Create{By: agent("ada"), Task: taskID(1), Intent: "do it", Budget: event.Budget{Tokens: 1000}}
}
func start(task.Task) Command { return Start{By: agent("ada")} }
func tick(task.Task) Command  { return Tick{} }

// send requests a handoff from the source.
func send(change ...func(*Send)) func(task.Task) Command {
	return func(t task.Task) Command {
		r := Send{
			By: source(t), Epoch: t.Epoch, Kind: event.Warm, Reason: event.ReasonSpecialization, Candidates: targets("ben"),
			NewWork: true, Envelope: nextEnvelope(t),
		}
		for _, c := range change {
			c(&r)
		}
		return r
	}
}

func to(names ...string) func(*Send) {
	return func(r *Send) { r.Candidates = targets(names...) }
}
func kind(k event.Kind) func(*Send) { return func(r *Send) { r.Kind = k } }
func explicit(r *Send)              { r.Confirm = event.ConfirmExplicit }
func returnHome(r *Send)            { r.ReturnHome = true }

func source(t task.Task) identity.Principal {
	if t.Owner != "" {
		return agent(t.Owner)
	}
	return agent("ada")
}

func accept(who string) func(task.Task) Command {
	return func(t task.Task) Command { return Accept{By: agent(who), Handoff: t.Handoff.N} }
}

func see(who string) func(task.Task) Command {
	return func(t task.Task) Command { return See{Agent: who, Handoff: t.Handoff.N} }
}

func reject(who string) func(task.Task) Command {
	return func(t task.Task) Command { return Reject{By: agent(who), Handoff: t.Handoff.N, Reason: event.Refused} }
}

func progress(t task.Task) Command { return Progress{By: source(t), Epoch: t.Epoch, Note: "on it"} }

func complete(t task.Task) Command {
	return Complete{By: source(t), Epoch: t.Epoch, Result: event.Result{Text: "done"}}
}
func fail(t task.Task) Command { return Fail{By: source(t), Epoch: t.Epoch, Detail: "cannot"} }
func cancel(task.Task) Command { return Cancel{By: operator("ann"), Detail: "no need"} }
func withdraw(t task.Task) Command {
	return Withdraw{By: source(t), Epoch: t.Epoch, Handoff: t.Handoff.N}
}

func delegate(t task.Task) Command {
	return Spawn{
		By: source(t), Epoch: t.Epoch, Kind: event.Delegation, Reason: event.ReasonSpecialization, NewWork: true, Envelope: nextEnvelope(t),
		Children: []event.NewChild{{Task: taskID(100 + len(t.Children)), To: "ben", Intent: "a part"}}, FanIn: event.FanIn{Mode: event.FanInAll},
	}
}

func desk(r *Send) { r.Candidates = append(r.Candidates, event.Candidate{Desk: "billing"}) }

func ask(t task.Task) Command {
	return Ask{By: source(t), Epoch: t.Epoch, Question: "which one?"}
}

// claim is by an operator, who has a task as the agent of the same name.
func claim(who string) func(task.Task) Command {
	return func(t task.Task) Command {
		return Claim{By: operator(who), Ticket: t.Ticket.N, Agent: who, Envelope: nextEnvelope(t)}
	}
}

// examples has at least one task in every state, and one handoff in every stage.
func examples(t *testing.T) []example {
	working := build(t, create, start)
	offered := working.then(send())
	waitsForDependency := build(t, func(task.Task) Command {
		return Create{By: agent("ada"), Task: taskID(1), Intent: "do it", Dependencies: []event.Dependency{{Task: taskID(90)}}}
	})
	return []example{
		build(t).as("no task"),
		build(t, create).as("pending"),
		waitsForDependency.as("pending, waits for a dependency"),
		build(t, create, send()).as("handing_off, nobody owns it"),
		working.as("executing"),
		working.wait(time.Hour).as("executing, lease over"),
		offered.then(see("ben")).wait(15 * time.Second).then(tick).as("handing_off, requested: retry scheduled"),
		working.then(send(kind(event.Supervised))).as("handing_off, awaiting_approval"),
		offered.as("handing_off, offered"),
		offered.then(see("ben")).as("handing_off, offered and seen"),
		offered.then(see("ben")).wait(time.Minute).as("handing_off, offered, acknowledgment overdue"),
		working.then(send(kind(event.Broadcast), to("ben", "cleo"))).as("handing_off, offered as a claim"),
		working.then(send(explicit), accept("ben")).as("handing_off, accepted"),
		working.wait(time.Hour).then(tick).as("handing_off, recovery offered"),
		working.then(func(t task.Task) Command {
			return Stuck{By: operator("ann"), Recovery: targets("ben"), Envelope: nextEnvelope(t)}
		}).as("handing_off, offered because the owner is stuck"),
		offered.then(accept("ben")).as("executing, transferred"),
		offered.then(reject("ben")).as("executing, rejected"),
		working.then(send(explicit), accept("ben")).wait(2 * time.Minute).then(tick).as("executing, expired: not confirmed in time"),
		working.then(send(returnHome)).wait(11 * time.Minute).then(tick).as("executing, failed: nobody could be reached"),
		offered.then(withdraw).as("executing, cancelled handoff"),
		working.then(delegate).as("waiting"),
		build(t, create, delegate).as("waiting, nobody owns it"),
		working.then(ask).as("waiting for an answer"),
		working.then(ask, claim("bob")).as("waiting for an answer that somebody sees to"),
		working.then(send(to(), desk)).as("waiting for people at a desk"),
		build(t, create, send(to(), desk)).as("waiting for people at a desk, nobody owns it"),
		working.then(send(to(), desk), claim("bob")).as("executing, taken over by a person"),
		working.then(send()).wait(11 * time.Minute).then(tick).as("parked"),
		build(t, create, send(), reject("ben")).as("pending, returned"),
		build(t, create, send()).wait(11 * time.Minute).then(tick).as("parked, nobody owns it"),
		working.then(complete).as("completed"),
		working.then(fail).as("failed"),
		offered.then(cancel).as("cancelled"),
	}
}

func TestThereIsAnExampleOfEveryStateAndStage(t *testing.T) {
	states, stages := map[event.State]bool{}, map[event.Stage]bool{}
	for _, e := range examples(t) {
		states[e.task.State], stages[stageOf(e.task)] = true, true
	}
	for _, s := range event.States.Values() {
		if !states[s] {
			t.Errorf("no example of the state %s", s)
		}
	}
	for _, s := range event.Stages.Values() {
		if !stages[s] {
			t.Errorf("no example of the stage %s", s)
		}
	}
}
