package handoff

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Random worlds: a few agents, an operator, small limits, short clocks. A command is made from one seed and the task as
// it stands, so that a failing sequence shrinks to the commands that matter.

var agents = []string{"ada", "ben", "cleo", "dan"}

type dice struct{ *rand.Rand }

func newDice(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 7))} }

func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

func pick[T any](d dice, from ...T) T { return from[d.IntN(len(from))] }

func (d dice) duration() event.Duration {
	return event.Duration(pick(d, 10*time.Millisecond, time.Second, 15*time.Second, time.Minute, 10*time.Minute))
}

func (d dice) timeouts() event.Timeouts {
	if d.chance(40) {
		return event.Timeouts{}
	}
	return event.Timeouts{
		Offer: d.duration(), Ack: d.duration(), Approval: d.duration(), Answer: d.duration(), Confirm: d.duration(), Lease: d.duration(),
		Progress: pick(d, 0, 0, d.duration()), Wait: d.duration(),
	}
}

// step is how far the clock goes before the next command: mostly on, sometimes back, sometimes an hour's jump.
func (d dice) step() time.Duration {
	return pick(d, 0, time.Millisecond, time.Second, 16*time.Second, 61*time.Second, 11*time.Minute, -time.Second, -2*time.Minute, time.Hour, -time.Hour)
}

func (d dice) anybody() identity.Principal {
	return pick(d, agent(agents[0]), agent(agents[1]), agent(agents[2]), agent(agents[3]), operator("ann"), operator("bob"), system)
}

// source is mostly who stands behind the task.
func (d dice) source(t task.Task) identity.Principal {
	switch {
	case d.chance(25):
		return d.anybody()
	case t.Owner != "":
		return agent(t.Owner)
	case t.Requester == "operator/ann":
		return operator("ann")
	}
	return agent(agents[0])
}

func (d dice) epoch(t task.Task) uint64 {
	if d.chance(85) {
		return t.Epoch
	}
	return uint64(d.IntN(4))
}

func (d dice) usage() event.Budget {
	return event.Budget{Tokens: pick[int64](d, 0, 1, 10, 60), Cost: pick[int64](d, 0, 0, 5)}
}

func (d dice) permissions() []string {
	return pick(d, nil, nil, []string{}, []string{"read"}, []string{"read", "write"})
}

func (d dice) candidates() []event.Candidate {
	var out []event.Candidate
	for range 1 + d.IntN(3) {
		out = append(out, event.Candidate{
			Agent: pick(d, agents...), Tier: pick(d, event.TierTarget, event.TierTarget, event.TierTarget, event.TierFallback, event.TierEscalation, ""),
			Level: pick(d, 0, 0, 1, 2, 3), Human: d.chance(10),
		})
	}
	if d.chance(20) {
		out = append(out, desks(pick(d, []string{"billing"}, []string{"billing", "legal"})...)...)
	}
	return out
}

func (d dice) hints() Hints {
	h := Hints{Unfit: map[string]string{}, Jitter: d.Float64()}
	for _, a := range agents {
		if d.chance(15) {
			h.Unfit[a] = "is offline"
		}
	}
	if d.chance(30) {
		h.Later = t0.Add(time.Duration(d.IntN(600)) * time.Minute)
	}
	return h
}

func (d dice) envelope(t task.Task) event.Sealed {
	if d.chance(10) {
		return event.Sealed{Digest: "sha256:999", Parent: "sha256:998", Bytes: []byte(`{}`)}
	}
	if d.chance(20) {
		return event.Sealed{}
	}
	return nextEnvelope(t)
}

func (d dice) result() event.Result {
	return event.Result{Text: pick(d, "", "done"), Data: pick(d, nil, json.RawMessage(`{"a": [1, "<x>"]}`), json.RawMessage(`{`))}
}

func (d dice) constraint() event.Constraint {
	top := float64(d.IntN(3))
	return event.Constraint{
		ID: pick(d, "c1", "c2"), Kind: event.ConstraintBudget, Text: pick(d, "spend little", "spend little", "spend much"), Hard: d.chance(50),
		Max: pick(d, nil, &top), Allow: pick(d, nil, []string{}, []string{"x"}, []string{"x", "y"}),
	}
}

func (d dice) create(now time.Time) Create {
	c := Create{
		By: pick(d, agent(agents[0]), operator("ann")), Task: taskID(1), Intent: "do it", Timeouts: d.timeouts(),
		Limits:      event.Limits{Hops: d.IntN(5), Handoffs: d.IntN(8), Visits: d.IntN(4), Escalations: d.IntN(3), Attempts: d.IntN(3), Tasks: pick(d, 0, 1, 3, 10)},
		Permissions: d.permissions(),
	}
	if d.chance(50) {
		c.Budget = event.Budget{Tokens: 100, Cost: pick[int64](d, 0, 50)}
	}
	if d.chance(30) {
		c.Deadline = now.Add(time.Duration(1+d.IntN(120)) * time.Minute)
	}
	if d.chance(20) {
		c.Dependencies = []event.Dependency{{Task: taskID(90), State: pick(d, event.Pending, event.Executing, event.Completed)}}
	}
	if d.chance(30) {
		c.Constraints = []event.Constraint{d.constraint()}
	}
	if d.chance(20) {
		c.Route = []string{"ben", "cleo"}
	}
	if d.chance(20) { // a child, some way down
		c.By, c.For, c.Parent = system, "agent/ada", event.Parent{Task: taskID(80), Await: true}
		c.Limits.Tasks = 10
		c.Path, c.Marks, c.Used = []event.Visit{{Agent: "ada"}}, 1, event.Used{Tasks: pick(d, 0, 5, 10)}
	}
	return c
}

// command makes one command: mostly one that fits the task's state, sometimes any.
func (d dice) command(t task.Task) Command {
	if d.chance(30) {
		return d.general(t)
	}
	h := t.InFlight()
	switch {
	case h != nil && h.Stage == event.Offered:
		return d.answer(t, h)
	case h != nil && h.Stage == event.Accepted && d.chance(20):
		return d.render(t)
	case h != nil && h.Stage == event.Accepted:
		return Confirm{By: d.source(t), Epoch: d.epoch(t), Handoff: h.N, Envelope: d.envelope(t)}
	case h != nil && h.Stage == event.AwaitingApproval:
		who := pick(d, operator("bob"), operator("bob"), d.anybody())
		if d.chance(20) {
			return d.ticket(t)
		}
		return pick[Command](d, Approve{By: who, Handoff: h.N, Digest: pick(d, "", h.Envelope, "sha256:0"), Hints: d.hints()},
			Approve{By: who, Handoff: h.N, Hints: d.hints()}, Deny{By: who, Handoff: h.N, Detail: "no"})
	case t.AtDesk() != nil:
		return d.ticket(t)
	case t.State == event.Waiting:
		return EndChild{
			Child: pick(d, t.Children...).Task, State: pick(d, event.Completed, event.Completed, event.Failed, event.Parked, event.Pending, event.Executing),
			Result: pick(d, nil, &event.Result{Text: "ok", Data: []byte(`[ 1 ]`)}), Spent: d.usage(), Tasks: d.IntN(5) - 1,
		}
	case t.State == event.Parked:
		who := pick(d, operator("bob"), d.anybody())
		return pick[Command](d, Replay{By: who, Budget: pick(d, event.Budget{}, event.Budget{Tokens: 500}), Route: pick(d, nil, []string{}, []string{"dan"})},
			Replay{By: who}, Sequence{Replay{By: who}, d.request(t)}, Replay{By: operator("ann")}, Discard{By: d.anybody(), Why: "old"})
	case t.State == event.Executing:
		if t.InPerson() != nil && d.chance(20) {
			return d.ticket(t)
		}
		return d.owned(t)
	case t.State == event.Pending:
		return d.begun(t)
	}
	return d.general(t)
}

// owned is what is done about a task that somebody works on.
func (d dice) owned(t task.Task) Command {
	switch d.IntN(8) {
	case 0, 1:
		return d.work(t)
	case 2, 3:
		return d.request(t)
	case 4:
		return d.spawn(t)
	case 5:
		return d.ask(t)
	case 6:
		return d.inquire(t)
	default:
		return d.stuck(t)
	}
}

// begun is what is done about a task that nobody has yet.
func (d dice) begun(t task.Task) Command {
	switch d.IntN(5) {
	case 0:
		return Start{By: d.source(t)}
	case 1, 2:
		return d.request(t)
	case 3:
		return d.spawn(t)
	default:
		return EndDependency{Task: taskID(90), State: pick(d, event.Completed, event.Completed, event.Failed)}
	}
}

func (d dice) answer(t task.Task, h *task.Handoff) Command {
	who := pick(d, h.To...)
	if d.chance(10) {
		who = pick(d, agents...)
	}
	n := pick(d, h.N, h.N, h.N, h.N, d.IntN(3))
	offer := pick(d, 0, h.Offer, h.Offer, d.IntN(4))
	switch d.IntN(10) {
	case 0:
		return See{Agent: who, Handoff: n, Offer: offer}
	case 1:
		return Accept{By: agent(who), Handoff: n, Offer: offer}
	case 2:
		return Accept{By: agent(who), Handoff: n}
	case 3:
		return d.render(t)
	case 4:
		return Sequence{Accept{By: agent(who), Handoff: n}, d.render(t)}
	case 5:
		return Reject{By: agent(who), Handoff: n, Offer: offer, Reason: pick(d, event.Refused, event.Overloaded), Hints: d.hints()}
	case 6:
		if d.chance(30) {
			return Tick{Wake: true, Hints: d.hints()}
		}
		return JoinClaim{Agent: pick(d, agents...), Handoff: n}
	case 7:
		return d.work(t)
	case 8:
		return d.ask(t)
	default:
		return d.shed(t, h)
	}
}

// stuck is mostly said by who may.
func (d dice) stuck(t task.Task) Command {
	return Stuck{
		By: pick(d, operator("ann"), d.anybody(), d.anybody()), Above: d.chance(20), Detail: "no answer", Recovery: d.candidates(),
		Envelope: d.envelope(t), Hints: d.hints(),
	}
}

func (d dice) shed(t task.Task, h *task.Handoff) Command {
	who := pick(d, h.To...)
	return Shed{
		By: pick(d, system, operator("ann"), agent(who), d.anybody()), Agent: who, Handoff: h.N, Offer: pick(d, 0, h.Offer),
		To: []string{pick(d, agents...), pick(d, agents...)}, Why: "too much to do", Hints: d.hints(),
	}
}

func (d dice) work(t task.Task) Command {
	by, epoch := d.source(t), d.epoch(t)
	return pick[Command](d, Heartbeat{By: by, Epoch: epoch}, Progress{By: by, Epoch: epoch, Note: "on it", Usage: d.usage()},
		Progress{By: by, Epoch: epoch, Note: "on it"}, Progress{By: by, Epoch: epoch, Note: "on it"}, Heartbeat{By: by, Epoch: epoch},
		Complete{By: by, Epoch: epoch, Result: d.result(), Usage: d.usage()}, Fail{By: by, Epoch: epoch, Detail: "cannot"})
}

func (d dice) request(t task.Task) Command {
	retries := d.IntN(3)
	return Send{
		By: d.source(t), Epoch: d.epoch(t), Kind: pick(d, event.Warm, event.Cold, event.Supervised, event.Broadcast), Claim: d.chance(20),
		Reason:     pick(d, event.ReasonSpecialization, event.ReasonError, event.ReasonEscalation),
		Candidates: d.candidates(), Confirm: pick(d, "", event.ConfirmExplicit), Timeouts: d.timeouts(), Retries: &retries,
		ReturnHome: d.chance(30), Approver: pick(d, "", "", pick(d, agents...)), Permissions: d.permissions(), NewWork: d.chance(30),
		RouteStep: d.chance(30), Pack: d.pack(), Envelope: d.envelope(t), Hints: d.hints(), Chain: pick(d, "", "support", "billing"),
	}
}

func (d dice) spawn(t task.Task) Command {
	c := Spawn{
		By: d.source(t), Epoch: d.epoch(t), Kind: pick(d, event.Delegation, event.Broadcast), Reason: event.ReasonSpecialization,
		Timeouts: d.timeouts(), Permissions: d.permissions(), NewWork: d.chance(50), Pack: d.pack(), Envelope: d.envelope(t),
		FanIn: event.FanIn{Mode: pick(d, event.FanInAll, event.FanInQuorum, event.FanInFirst, event.FanInNone), Quorum: 1 + d.IntN(2)},
	}
	n := 1
	if c.Kind == event.Broadcast {
		n += d.IntN(3)
	}
	for i := range n {
		c.Children = append(c.Children, event.NewChild{
			Task: taskID(100 + t.NextChild() + i), Index: t.NextChild() + i, To: pick(d, agents...), Intent: "a part", Budget: pick(d, event.Budget{}, event.Budget{Tokens: 5}),
		})
	}
	return c
}

func (d dice) pack() event.Pack {
	return pick(d, event.Pack{}, event.Pack{}, event.Pack{}, event.Pack{Tokens: 100, Strategy: "lazy", Pinned: []string{"f1"}}, event.Pack{Strategy: "luck"})
}

// render is mostly of what was given, for whom it was given to.
func (d dice) render(t task.Task) Command {
	c := Render{By: system, Agent: pick(d, agents...)}
	if h := t.Handoff; h != nil {
		c.Handoff, c.Offer = h.N, pick(d, 0, h.Offer, h.Offer, d.IntN(3))
		if len(h.To) > 0 && d.chance(80) {
			c.Agent = pick(d, h.To...)
		}
	}
	if n := len(t.Shares); n > 0 && (t.Handoff == nil || d.chance(30)) {
		c.Share = 1 + d.IntN(n+1)
		c.Agent = pick(d, c.Agent, t.Shares[n-1].To)
	}
	if d.chance(20) {
		c.By = d.anybody()
	}
	c.Rendition = rendition(pick(d, given(t, c.Share), given(t, c.Share), given(t, c.Share), given(t, c.Share), "sha256:999"))
	return c
}

func (d dice) ask(t task.Task) Command {
	by, epoch, n := d.source(t), d.epoch(t), 1+d.IntN(t.TakeoverCount+1)
	switch d.IntN(5) {
	case 0:
		return Takeover{By: d.anybody(), Envelope: d.envelope(t)}
	case 1:
		return Takeover{By: d.anybody(), Envelope: nextEnvelope(t)}
	case 2:
		return ApproveTakeover{By: by, Epoch: epoch, Takeover: n, Envelope: d.envelope(t)}
	case 3:
		return ApproveTakeover{By: by, Epoch: epoch, Takeover: n, Envelope: nextEnvelope(t)}
	default:
		return DenyTakeover{By: by, Epoch: epoch, Takeover: n, Detail: "mine"}
	}
}

func (d dice) inquire(t task.Task) Command {
	return Ask{
		By: d.source(t), Epoch: d.epoch(t), Desk: pick(d, "", "billing"), To: pick(d, "", "", "", pick(d, agents...)), Then: pick(d, "", "legal"),
		Question: "which one?", Options: pick(d, nil, []string{"this", "that"}), Within: pick(d, 0, 0, d.duration()),
	}
}

// ticket is mostly by somebody who may see to it.
func (d dice) ticket(t task.Task) Command {
	n := 1
	if t.Ticket != nil {
		n = t.Ticket.N
	}
	if d.chance(10) {
		n = d.IntN(4)
	}
	by, serves := pick(d, operator("ann"), operator("bob"), agent("dan"), agent("cleo"), d.anybody()), pick(d, nil, []string{"billing"}, []string{"legal", "operators"})
	as := pick(d, by.Agent(), by.Agent(), "", "eve")
	epoch := d.epoch(t)
	switch d.IntN(9) {
	case 0:
		return Claim{By: by, Serves: serves, Ticket: n, Agent: as, Envelope: d.envelope(t)}
	case 1:
		return Claim{By: by, Serves: serves, Ticket: n, Agent: as, Envelope: nextEnvelope(t)}
	case 2:
		return Answer{By: by, Serves: serves, Ticket: n, Answer: "this"}
	case 3:
		return Answer{By: by, Serves: serves, Ticket: n, Answer: pick(d, "that", "other")}
	case 4:
		return Release{By: pick(d, by, d.source(t)), Epoch: epoch, Ticket: n}
	case 5:
		return DenyTicket{By: by, Serves: serves, Ticket: n, Detail: "no"}
	case 6:
		return WithdrawTicket{By: d.source(t), Epoch: epoch, Ticket: n}
	case 7:
		return d.work(t)
	default:
		return d.ask(t)
	}
}

// general is any command that may come at any time.
func (d dice) general(t task.Task) Command {
	by, epoch := d.source(t), d.epoch(t)
	n := 1
	if t.Handoff != nil {
		n = t.Handoff.N
	}
	if d.chance(3) {
		return Cancel{By: d.anybody()}
	}
	switch d.IntN(25) { // only what comes up is made: stories are many
	case 0:
		return d.request(t)
	case 1:
		return d.spawn(t)
	case 2, 3:
		return d.work(t)
	case 4, 5:
		return d.ask(t)
	case 6:
		return d.inquire(t)
	case 7:
		return d.ticket(t)
	case 8:
		return d.stuck(t)
	case 9:
		return Withdraw{By: by, Epoch: epoch, Handoff: n}
	case 10, 11:
		return Constrain{By: pick(d, by, by, d.anybody()), Epoch: epoch, Constraint: d.tighter(t)}
	case 24:
		return RaiseBudget{By: d.anybody(), Child: pick(d, "", "", taskID(100)), Reserved: d.chance(20), Budget: event.Budget{Tokens: int64(d.IntN(500)), Cost: int64(d.IntN(3))}}
	case 12:
		return d.lift(t)
	case 13:
		return Share{By: by, Epoch: epoch, To: pick(d, agents...), Pack: d.pack(), Envelope: d.envelope(t)}
	case 14:
		return d.render(t)
	case 15:
		if len(t.Notices) > 0 && d.IntN(2) == 0 {
			n := t.Notices[d.IntN(len(t.Notices))]
			return SeeNotice{By: agent(n.Agent), Notice: n.N}
		}
		return ReadShare{By: d.anybody(), Share: 1}
	case 16:
		return Annotate{By: d.anybody(), Entry: 3, Note: "a correction"}
	case 17:
		if d.chance(30) {
			return Keep{event.Decision{Action: event.ActionKeep}}
		}
		return TakeAdvice{event.AdviceTaken{Model: "m1", Outcome: pick(d, event.AdvisedKeep, event.AdviceFailed), Why: "as I see it"}}
	case 18:
		return ReportGap{By: by, Epoch: epoch, Missing: []string{"logs"}}
	case 19:
		child := taskID(100 + d.IntN(len(t.Children)+1))
		return EndChild{Child: child, State: pick(d, event.Completed, event.Failed, event.Cancelled), Spent: d.usage(), Tasks: d.IntN(5) - 1}
	case 20:
		return EndDependency{Task: taskID(90), State: pick(d, event.Completed, event.Failed)}
	case 21:
		return d.tick(t)
	case 22:
		return Discard{By: d.anybody(), Why: "old"}
	default:
		return Sequence{d.work(t), d.request(t)}
	}
}

func (d dice) tick(t task.Task) Tick {
	tick := Tick{Hints: d.hints(), Envelope: d.envelope(t)}
	if d.chance(70) {
		tick.Recovery = append(targets(pick(d, agents...)), targets(t.Owner)...)
		if d.chance(20) {
			tick.Recovery = append(tick.Recovery, desks("billing")...)
		}
	}
	return tick
}

// describe is a command in one line, for a failing sequence.
func describe(c Command) string { return fmt.Sprintf("%T%+v", c, c) }
