package handoff

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
)

// The language of the stories: by=NAME is an agent, by=operator/NAME a person, by=system/courier the server. The epoch is the current one unless
// the line says epoch=N.

func (s *story) word(key, def string) string {
	if a, ok := s.d.Arg(key); ok && len(a.Vals) > 0 {
		return strings.Join(a.Vals, ", ")
	}
	return def
}

func (s *story) list(key string) []string {
	a, ok := s.d.Arg(key)
	if !ok {
		return nil
	}
	if len(a.Vals) == 1 && a.Vals[0] == "" {
		return []string{}
	}
	return a.Vals
}

func (s *story) number(key string, def int) int {
	n, err := strconv.Atoi(s.word(key, strconv.Itoa(def)))
	if err != nil {
		panic(fmt.Sprintf("%s: %s: %v", s.d.Pos, key, err))
	}
	return n
}

func (s *story) span(key string) event.Duration {
	d, err := time.ParseDuration(s.word(key, "0s"))
	if err != nil {
		panic(fmt.Sprintf("%s: %s: %v", s.d.Pos, key, err))
	}
	return event.Duration(d)
}

// duration is the bare argument of wait and tick, such as +15s.
func (s *story) duration(t *testing.T) time.Duration {
	t.Helper()
	for _, a := range s.d.CmdArgs {
		if d, err := time.ParseDuration(strings.TrimPrefix(a.Key, "+")); err == nil {
			return d
		}
	}
	return 0
}

func (s *story) by() identity.Principal {
	who := s.word("by", "")
	if strings.HasPrefix(who, "operator/") || strings.HasPrefix(who, "admin/") {
		return identity.ParsePrincipal("", who)
	}
	if who == system.String() {
		return system
	}
	return agent(who)
}

func (s *story) epoch() uint64 {
	if s.by().IsOperator() {
		return uint64(s.number("epoch", 0))
	}
	return uint64(s.number("epoch", int(s.task.Epoch)))
}

func (s *story) handoff() int { return s.number("handoff", number(s.task)) }

func (s *story) hints() Hints {
	h := Hints{Unfit: map[string]string{}}
	for _, a := range s.list("unfit") {
		h.Unfit[a] = "is offline"
	}
	if later := s.span("later"); later != 0 {
		h.Later = s.now.Add(time.Duration(later))
	}
	return h
}

func (s *story) timeouts() event.Timeouts {
	return event.Timeouts{
		Offer: s.span("offer-clock"), Ack: s.span("ack-clock"), Approval: s.span("approval-clock"), Answer: s.span("answer-clock"), Confirm: s.span("confirm-clock"),
		Lease: s.span("lease"), Progress: s.span("progress-clock"), Wait: s.span("wait-clock"),
	}
}

func (s *story) budget() event.Budget { return event.Budget{Tokens: int64(s.number("tokens", 0))} }

func (s *story) deadline() time.Time {
	if d := s.span("deadline"); d != 0 {
		return s.now.Add(time.Duration(d))
	}
	return time.Time{}
}

func (s *story) command(t *testing.T) Command {
	t.Helper()
	by, e, h := s.by(), s.epoch(), s.handoff()
	switch s.d.Cmd {
	case "create":
		return s.create()
	case "start":
		return Start{By: by}
	case "heartbeat":
		return Heartbeat{By: by, Epoch: e}
	case "progress":
		return Progress{By: by, Epoch: e, Note: s.word("note", "on it"), Usage: s.budget()}
	case "complete":
		return Complete{By: by, Epoch: e, Result: event.Result{Text: s.word("result", "done")}, Usage: s.budget()}
	case "fail":
		return Fail{By: by, Epoch: e, Detail: s.word("detail", "cannot be done")}
	case "cancel":
		return Cancel{By: by, Epoch: uint64(s.number("epoch", 0)), Detail: s.word("detail", "")}
	case "send":
		return s.send()
	case "see":
		return See{Agent: by.Agent(), Handoff: h, Offer: s.number("offer", 0)}
	case "accept":
		a := Accept{By: by, Handoff: h, Offer: s.number("offer", 0)}
		if s.d.HasArg("render") {
			return Sequence{a, s.render()}
		}
		return a
	case "reject":
		return Reject{By: by, Handoff: h, Reason: event.Rejection(s.word("why", "refused")), Missing: s.list("missing"), Hints: s.hints()}
	case "confirm":
		c := Confirm{By: by, Epoch: e, Handoff: h}
		if s.d.HasArg("notes") {
			c.Envelope = s.sealed()
		}
		return c
	case "withdraw":
		return Withdraw{By: by, Epoch: e, Handoff: h, Detail: s.word("detail", "")}
	}
	return s.rarer(t, by, e, h)
}

func (s *story) rarer(t *testing.T, by identity.Principal, e uint64, h int) Command {
	t.Helper()
	switch s.d.Cmd {
	case "stuck":
		return Stuck{
			By: by, Above: s.d.HasArg("above"), Detail: s.word("detail", ""), Recovery: append(targets(s.list("to")...), tier(event.TierEscalation, s.list("escalation")...)...),
			Envelope: s.sealed(), Hints: s.hints(),
		}
	case "shed":
		return Shed{By: by, Agent: s.word("agent", by.Agent()), Handoff: h, Offer: s.number("offer", 0), To: s.list("to"), Why: s.word("why", "too much to do"), Hints: s.hints()}
	case "wake":
		return Tick{Wake: true, Hints: s.hints()}
	case "join":
		return JoinClaim{Agent: by.Agent(), Handoff: h}
	case "approve":
		return Approve{By: by, Handoff: h, Digest: s.word("digest", ""), Hints: s.hints()}
	case "deny":
		return Deny{By: by, Handoff: h, Detail: s.word("detail", "")}
	case "delegate", "fan-out":
		return s.spawn()
	case "child":
		return EndChild{
			Child: taskID(s.number("n", 0)), State: event.State(s.word("state", "completed")), Spent: s.budget(), Tasks: s.number("tasks", 0),
			Result: &event.Result{Text: s.word("result", "")}, Why: s.word("why", ""),
		}
	case "dependency":
		return EndDependency{Task: taskID(s.number("n", 90)), State: event.State(s.word("state", "completed"))}
	case "takeover":
		return Takeover{By: by, Envelope: s.sealed()}
	case "approve-takeover":
		return ApproveTakeover{By: by, Epoch: e, Takeover: s.number("ask", 1), Detail: s.word("why", ""), Envelope: s.sealed()}
	case "deny-takeover":
		return DenyTakeover{By: by, Epoch: e, Takeover: s.number("ask", 1)}
	case "share":
		return Share{By: by, Epoch: e, To: s.word("to", ""), Pack: s.pack(), Envelope: s.sealed()}
	case "render":
		return s.render()
	case "read":
		return ReadShare{By: by, Share: s.number("share", 1)}
	case "see-notice":
		return SeeNotice{By: by, Notice: s.number("notice", 1)}
	case "constrain":
		return Constrain{By: by, Epoch: e, Constraint: s.constraint()}
	case "lift":
		return Lift{By: by, ID: s.word("id", ""), TightenedBy: s.word("tightened-by", ""), Why: s.word("why", "")}
	case "raise":
		r := RaiseBudget{By: by, Reserved: s.d.HasArg("reserved"), Budget: s.budget(), Why: s.word("why", "")}
		if s.d.HasArg("child") {
			r.Child = taskID(s.number("child", 0))
		}
		return r
	case "replay":
		r := Replay{By: by, Route: s.list("route"), Deadline: s.deadline(), Budget: s.budget()}
		if s.d.HasArg("to") {
			return Sequence{r, s.send()}
		}
		return r
	case "discard":
		return Discard{By: by, Why: s.word("why", "")}
	case "gap":
		return ReportGap{By: by, Epoch: e, Missing: s.list("missing"), Detail: s.word("detail", "")}
	case "advice":
		return TakeAdvice{event.AdviceTaken{Model: "m1", Outcome: event.AdviceOutcome(s.word("outcome", "keep")), Why: s.word("why", "")}}
	case "stay":
		return Keep{event.Decision{Action: event.ActionKeep, Why: []string{s.word("why", "")}}}
	case "ask", "claim", "release", "answer", "decline", "recall":
		return s.ticket(by, e)
	case "annotate":
		return Annotate{By: by, Entry: uint64(s.number("entry", 0)), Note: s.word("note", "")}
	}
	t.Fatalf("%s: no such command: %s", s.d.Pos, s.d.Cmd)
	return nil
}

// ticket is a command of tickets. A person who claims a task has it under their own name, unless as= says otherwise.
func (s *story) ticket(by identity.Principal, e uint64) Command {
	n, serves := 1, s.list("serves")
	if k := s.task.Ticket; k != nil {
		n = k.N
	}
	n = s.number("ticket", n)
	switch s.d.Cmd {
	case "ask":
		return Ask{
			By: by, Epoch: e, Desk: s.word("desk", ""), To: s.word("to", ""), Then: s.word("then", ""), Question: s.word("question", "which one?"),
			Options: s.list("options"), Within: s.span("within"),
		}
	case "claim":
		return Claim{By: by, Serves: serves, Ticket: n, Agent: s.word("as", by.Agent()), Envelope: s.sealed()}
	case "release":
		return Release{By: by, Epoch: e, Ticket: n, Detail: s.word("detail", "")}
	case "answer":
		return Answer{By: by, Serves: serves, Ticket: n, Answer: s.word("says", "the blue one")}
	case "decline":
		return DenyTicket{By: by, Serves: serves, Ticket: n, Detail: s.word("detail", "")}
	}
	return WithdrawTicket{By: by, Epoch: e, Ticket: n, Detail: s.word("detail", "")}
}

func desks(names ...string) []event.Candidate {
	var out []event.Candidate
	for _, n := range names {
		out = append(out, event.Candidate{Desk: n, Tier: event.TierEscalation})
	}
	return out
}

func (s *story) create() Command {
	c := Create{
		By: s.by(), Task: taskID(1), Intent: s.word("intent", "do it"), Timeouts: s.timeouts(), Budget: s.budget(), Deadline: s.deadline(),
		Limits: event.Limits{
			Hops: s.number("hops", 0), Handoffs: s.number("handoffs", 0), Visits: s.number("visits", 0),
			Escalations: s.number("escalations", 0), Attempts: s.number("attempts", 0),
			Tasks: s.number("tasks", 0),
		},
		Permissions: s.list("permissions"), Route: s.list("route"), Priority: event.Priority(s.word("priority", "")),
		Conversation: s.word("conversation", ""),
	}
	for _, d := range s.list("depends") {
		n, _ := strconv.Atoi(d)
		c.Dependencies = append(c.Dependencies, event.Dependency{Task: taskID(n), State: event.State(s.word("state", "pending"))})
	}
	return c
}

func (s *story) send() Command {
	r := Send{
		By: s.by(), Epoch: s.epoch(), Kind: event.Kind(s.word("kind", "warm")), Reason: event.Reason(s.word("reason", "specialization")),
		Candidates: append(append(targets(s.list("to")...), tier(event.TierFallback, s.list("fallbacks")...)...),
			append(tier(event.TierEscalation, s.list("escalation")...), desks(s.list("desks")...)...)...),
		Confirm: event.ConfirmMode(s.word("confirm", "")), Timeouts: s.timeouts(), ReturnHome: s.d.HasArg("return"),
		Approver: s.word("approver", ""), Permissions: s.list("permissions"), NewWork: s.d.HasArg("new-work"),
		RouteStep: s.d.HasArg("route-step"), Pack: s.pack(), Envelope: s.sealed(), Hints: s.hints(), Chain: s.word("chain", ""),
	}
	for i, c := range r.Candidates { // cleo/2 is of level 2, dora/human a person
		if name, is := strings.CutSuffix(c.Agent, "/human"); is {
			r.Candidates[i].Agent, r.Candidates[i].Human = name, true
			continue
		}
		r.Candidates[i].Agent, r.Candidates[i].Level = levelOf(c.Agent, c.Level)
		r.Candidates[i].Desk, r.Candidates[i].Level = levelOf(c.Desk, r.Candidates[i].Level)
	}
	if s.d.HasArg("retries") {
		n := s.number("retries", 3)
		r.Retries = &n
	}
	return r
}

// levelOf takes the level of a chain off a name that has one.
func levelOf(name string, otherwise int) (string, int) {
	name, level, has := strings.Cut(name, "/")
	if n, err := strconv.Atoi(level); err == nil && has {
		return name, n
	}
	return name, otherwise
}

func (s *story) spawn() Command {
	c := Spawn{
		By: s.by(), Epoch: s.epoch(), Kind: event.Delegation, Reason: event.ReasonSpecialization, Timeouts: s.timeouts(), NewWork: s.d.HasArg("new-work"),
		Permissions: s.list("permissions"), Pack: s.pack(), Envelope: s.sealed(),
		FanIn: event.FanIn{Mode: event.FanInMode(s.word("fan-in", "all")), Quorum: s.number("quorum", 0)},
	}
	if s.d.Cmd == "fan-out" {
		c.Kind = event.Broadcast
	}
	for i, to := range s.list("to") {
		c.Children = append(c.Children, event.NewChild{Task: taskID(100 + s.task.NextChild() + i), Index: s.task.NextChild() + i, To: to, Intent: "a part of it", Budget: s.budget()})
	}
	return c
}

func (s *story) pack() event.Pack {
	return event.Pack{Tokens: s.number("pack", 0), Strategy: event.Strategy(s.word("strategy", "")), Pinned: s.list("pin")}
}

// render is what the server packed for by, of the envelope that the handoff or the share has, unless of=DIGEST says
// otherwise.
func (s *story) render() Command {
	c := Render{By: system, Handoff: s.handoff(), Offer: s.number("offer", 0), Share: s.number("share", 0), Agent: s.by().Agent()}
	if s.d.HasArg("itself") {
		c.By = agent(s.word("itself", ""))
	}
	c.Rendition = rendition(s.word("of", given(s.task, c.Share)))
	return c
}

func (s *story) constraint() event.Constraint {
	k := event.Constraint{
		ID: s.word("id", ""), Kind: event.ConstraintKind(s.word("kind", "security")), Text: s.word("text", ""), Hard: s.d.HasArg("hard"), Allow: s.list("allow"),
	}
	if s.d.HasArg("max") {
		v := float64(s.number("max", 0))
		k.Max = &v
	}
	return k
}
