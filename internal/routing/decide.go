package routing

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Question is what a decision is made on.
type Question struct {
	Policy    *policy.Policy    // nil: none is in force
	Situation *policy.Situation // of the task
	Directory Directory
	Exclude   []string // agents to leave out: the task's owner
	Own       []string // see [Request]
	Now       time.Time
	// Adviser is asked where no rule matches, for the principal By; nil: nobody is.
	Adviser Adviser
	By      string
}

// Adviser says what to do where no rule matches, such as a language model. What it says may break no rule, limit or
// permission: it chooses among the choices, and [Decide] keeps the task where it is if it does not.
type Adviser interface {
	// Advise answers within a bounded time. An error means that there is no advice, and says why; what was asked is told even
	// then. by is the principal for whom is asked: each has its share of what advice may cost.
	Advise(ctx context.Context, by string, s *policy.Situation, choices []Choice) (Advice, error)
}

// Choice is an agent, or a capability that some agent has, that an adviser may choose.
type Choice struct {
	Agent       string `json:"agent,omitempty"`
	Capability  string `json:"capability,omitempty"`
	Description string `json:"description,omitempty"`
}

// MaxChoices is the most that an adviser is offered.
const MaxChoices = 50

// Advice is what an adviser says.
type Advice struct {
	HandOff    bool         `json:"handoff"`
	Agent      string       `json:"agent,omitempty"`
	Capability string       `json:"capability,omitempty"`
	Kind       event.Kind   `json:"kind,omitempty"`
	Reason     event.Reason `json:"reason,omitempty"`
	Why        string       `json:"why"`
	Confidence float64      `json:"confidence"`

	Told Told `json:"-"`
}

// Told is what an adviser was asked and said, for the record. Texts are bounded by the adviser.
type Told struct {
	Model  string
	Prompt string
	Answer string // as it came, whether it could be used or not; empty if none came
	Tokens int64  // that it cost, as the endpoint says, or else as estimated
	Tries  int    // none: nothing was sent
	Took   time.Duration
}

// Decide says what to do with a task: what the first rule that matches says, else what the adviser does, else nothing. The
// decision explains itself. Errors are of ctx alone: where nobody could take the task, the decision says so, and [Route]
// refuses it.
func Decide(ctx context.Context, q Question) (event.Decision, error) {
	d := event.Decision{Action: event.ActionKeep}
	m, err := q.Policy.Match(ctx, q.Situation)
	if err != nil {
		return d, err
	}
	if q.Policy != nil {
		d.Policy = q.Policy.Digest()
	}
	for _, b := range m.Broken[:min(len(m.Broken), event.MaxBroken)] {
		d.Broken = append(d.Broken, b.Rule+": "+b.Why)
	}
	switch {
	case m.Rule == nil:
		q.advise(ctx, &d)
		return d, ctx.Err()
	case m.Rule.Then.Keep:
		d.Rule, d.Why = m.Rule.Name, m.Why
		return d, nil
	}
	then := m.Rule.Then
	if then.To.Agent != "" && slices.Contains(q.Exclude, then.To.Agent) {
		d.Rule, d.Why = m.Rule.Name, slices.Concat(m.Why, []string{then.To.Agent + " has it already"})
		return d, nil
	}
	d.Rule, d.Why, d.Action = m.Rule.Name, m.Why, event.ActionHandOff
	d.Kind, d.Reason, d.Detail = then.Kind, then.Reason, then.Detail
	d.Approver, d.Pack = then.SupervisedBy, then.Pack.FactPack()
	if d.Detail == "" {
		d.Detail = "rule " + m.Rule.Name
	}
	to := then.To
	d.To = event.Receiver{Agent: to.Agent, Capability: to.Capability, Channel: to.Channel, Chain: to.Chain, Desk: to.Human}
	q.weigh(&d)
	return d, nil
}

// advise is what the adviser says where no rule matches.
func (q Question) advise(ctx context.Context, d *event.Decision) {
	rules := "no rule matches"
	if q.Policy == nil {
		rules = "no policy is in force"
	}
	if q.Adviser == nil {
		d.Why = []string{rules, "no adviser is configured"}
		return
	}
	choices := q.choices()
	a, err := q.Adviser.Advise(ctx, q.By, q.Situation, choices)
	d.Why = []string{rules}
	switch {
	case err != nil:
		d.Why = append(d.Why, "there is no advice: "+refusal.Clip(message(err), event.MaxName*4))
		return
	case !a.HandOff:
		d.Rule, d.Why = event.AdviceRule, append(d.Why, "adviser: "+refusal.Clip(a.Why, policy.MaxDetail))
		return
	case !slices.ContainsFunc(choices, func(c Choice) bool { return c.Agent == a.Agent && c.Capability == a.Capability }):
		d.Why = append(d.Why, fmt.Sprintf("the advice was not among the choices: %.64q", a.Agent+a.Capability))
		return
	}
	d.Rule, d.Why, d.Action = event.AdviceRule, append(d.Why, "adviser: "+refusal.Clip(a.Why, policy.MaxDetail)), event.ActionHandOff
	d.To, d.Kind, d.Reason = event.Receiver{Agent: a.Agent, Capability: a.Capability}, a.Kind, a.Reason
	d.Detail = refusal.Clip(a.Why, policy.MaxDetail)
	q.weigh(d)
}

// choices are the agents that could take the task now, the best first, and then the capabilities that they have.
func (q Question) choices() []Choice {
	r, best := q.router(Request{}), make([]ranked, 0, MaxChoices/2)
	for h := range q.Directory.All() {
		if reason := r.judge(h); reason.eligible() {
			best = r.insert(best, h, reason)
		}
	}
	var list []Choice
	var can []string
	for _, a := range best {
		h, _ := q.Directory.Lookup(a.name)
		list = append(list, Choice{Agent: a.name, Description: h.Agent.Spec.Description})
		if h.Agent.Spec.Kind != agent.KindHuman {
			can = append(can, h.Agent.Spec.Capabilities...)
		}
	}
	slices.Sort(can)
	for _, c := range slices.Compact(can) {
		if len(list) < MaxChoices {
			list = append(list, Choice{Capability: c})
		}
	}
	return list
}

// Request is what routing is asked for a receiver of this task.
func (q Question) Request(to event.Receiver) Request {
	r := Request{Exclude: q.Exclude, Own: q.Own, Spread: q.Situation.Task.ID, StandIns: q.Policy.StandIns}
	if to.Agent != "" {
		r.Agents = []string{to.Agent}
	}
	if to.Capability != "" {
		r.Needs, r.Likes = []string{to.Capability}, Likes(q.Situation.Task.Tags)
	}
	return r
}

// Likes are the tags that could be capabilities.
func Likes(tags []string) []string {
	var list []string
	for _, t := range tags {
		if len(list) < MaxNeeds && event.CheckName("capability", t) == nil {
			list = append(list, t)
		}
	}
	return list
}

func (q Question) router(req Request) *router {
	req.Exclude, req.Own = q.Exclude, q.Own
	return &router{req: req, dir: q.Directory, now: q.Now, seen: make(map[string]bool)}
}

// weigh says who could take the task, and why others could not.
func (q Question) weigh(d *event.Decision) {
	switch {
	case d.To.Agent != "" || d.To.Capability != "":
		q.weighPlan(d, d.To, "")
	case d.To.Desk != "":
		d.Weighed = []event.Weighed{{Desk: d.To.Desk, Tier: event.TierTarget, Fit: true, Why: "people decide when they take it"}}
	case d.To.Chain != "":
		tier := event.TierTarget
		for _, l := range q.Policy.Chain(d.To.Chain) {
			if l.Human != "" {
				d.Weighed = append(d.Weighed, event.Weighed{Desk: l.Human, Tier: event.TierEscalation, Fit: true, Why: "people, where the chain ends"})
				continue
			}
			q.weighPlan(d, event.Receiver{Agent: l.Agent, Capability: l.Capability}, tier)
			tier = event.TierEscalation
		}
	}
}

// weighPlan adds those whom routing considers for a receiver, all of them of one tier if one is given.
func (q Question) weighPlan(d *event.Decision, to event.Receiver, tier event.Tier) {
	plan, err := Route(q.Request(to), q.Directory, q.Now)
	if err != nil && len(plan.Considered) == 0 {
		d.Why = append(d.Why, refusal.Clip(message(err), 4*event.MaxName))
	}
	d.Omitted += plan.Omitted
	for _, c := range plan.Considered {
		if len(d.Weighed) == event.MaxWeighed {
			d.Omitted++
			continue
		}
		w := event.Weighed{Agent: c.Agent, Tier: event.Tier(c.Tier), Fit: c.Eligible, Why: c.Why}
		if tier != "" {
			w.Tier = tier
		}
		d.Weighed = append(d.Weighed, w)
	}
}

func message(err error) string {
	if r, ok := refusal.As(err); ok {
		return r.Message
	}
	return err.Error()
}
