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

// Question is the input of a decision.
type Question struct {
	Policy    *policy.Policy    // nil: none is in force
	Situation *policy.Situation // of the task
	Directory Directory
	Exclude   []string // agents that must not receive it: the task's owner
	Own       []string // see [Request]
	Sender    string   // see [Request]
	Now       time.Time
	// Adviser is asked if no rule matches, on behalf of the principal By; nil: none.
	Adviser Adviser
	By      string
}

// Adviser advises what to do if no rule matches, such as a language model. Its advice cannot break a rule, limit or
// permission: it chooses among the choices, and [Decide] keeps the task with its owner if it does not.
type Adviser interface {
	// Advise returns within a bounded time. An error means that there is no advice, and says why; Advice.Told is set even
	// then. by is the principal that causes the call: each has its share of the budget.
	Advise(ctx context.Context, by string, s *policy.Situation, choices []Choice) (Advice, error)
}

// Choice is an agent, or a capability that some agent has, that an adviser may choose.
type Choice struct {
	Agent       string `json:"agent,omitempty"`
	Capability  string `json:"capability,omitempty"`
	Description string `json:"description,omitempty"`
}

// MaxChoices is the greatest number of choices of an adviser.
const MaxChoices = 50

// Advice is the answer of an adviser.
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

// Told is the exchange with an adviser, for the record. The adviser bounds the texts.
type Told struct {
	Model  string
	Prompt string
	Answer string // unchanged, usable or not; empty if there was none
	Tokens int64  // used, as the endpoint reports or else as estimated
	Tries  int    // 0: nothing was sent
	Took   time.Duration
}

// Decide decides what to do with a task: by the first matching rule, else by the adviser, else nothing. The decision contains
// its explanation. The only errors are those of ctx: if no agent can take the task, the decision says so, and [Route] refuses
// it.
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
		d.Rule, d.Why = m.Rule.Name, slices.Concat(m.Why, []string{then.To.Agent + " already has it"})
		return d, nil
	}
	d.Rule, d.Why, d.Action = m.Rule.Name, m.Why, event.ActionHandOff
	d.Kind, d.Reason, d.Detail = then.Kind, then.Reason, then.Detail
	d.Approver, d.Pack = then.Approver, then.Pack.FactPack()
	if d.Detail == "" {
		d.Detail = "rule " + m.Rule.Name
	}
	to := then.To
	d.To = event.Receiver{Agent: to.Agent, Capability: to.Capability, Channel: to.Channel, Chain: to.Chain, Desk: to.Human}
	q.weigh(&d)
	return d, nil
}

// advise asks the adviser if no rule matches.
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

// choices returns the agents that can take the task now, the best first, and then their capabilities.
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

// Request returns the routing request for a receiver of this task.
func (q Question) Request(to event.Receiver) Request {
	r := Request{Exclude: q.Exclude, Own: q.Own, Spread: q.Situation.Task.ID, Fallbacks: q.Policy.FallbacksOf, Sender: q.Sender}
	if to.Agent != "" {
		r.Agents = []string{to.Agent}
	}
	if to.Capability != "" {
		r.Needs, r.Likes = []string{to.Capability}, Likes(q.Situation.Task.Tags)
	}
	return r
}

// Likes returns the tags that are well-formed capabilities.
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
	req.Exclude, req.Own, req.Sender = q.Exclude, q.Own, q.Sender
	return &router{req: req, dir: q.Directory, now: q.Now, seen: make(map[string]bool)}
}

// weigh records the agents that can take the task, and why others cannot.
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

// weighPlan records the agents that routing considers for a receiver, all with one tier if it is given.
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
