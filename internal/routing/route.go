package routing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Route finds the agents that can receive a handoff at the time now: the targets, then their fallbacks. Refusals: invalid
// for a malformed request; not_found for a target that does not exist, with the most similar names; circuit_open if no agent
// is eligible and the circuits of all candidates are open for the sender; unavailable if no agent is eligible for any other reason. The last
// two come with a plan that gives the reason for each agent.
func Route(req Request, dir Directory, now time.Time) (Plan, error) {
	if err := req.check(); err != nil {
		return Plan{}, err
	}
	r := router{req: req, dir: dir, now: now, seen: make(map[string]bool)}
	find := r.byName
	if len(req.Agents) == 0 {
		find = r.byCapability
	}
	if err := find(); err != nil {
		return Plan{}, err
	}
	targets := slices.Clone(r.plan.Considered)
	r.addFallbacks(targets)
	for _, c := range r.plan.Considered {
		if c.Eligible {
			return r.plan, nil
		}
	}
	return r.plan, r.refuse()
}

type router struct {
	req  Request
	dir  Directory
	now  time.Time
	plan Plan
	seen map[string]bool

	spread  uint64    // hash of the request's Spread; 0: not computed yet
	others  int       // candidates that cannot take it now, for another reason than an open circuit
	resetAt time.Time // of the first open circuit to reset
}

// byName considers the named agents in their order. A name that does not exist is refused.
func (r *router) byName() error {
	for _, name := range r.req.Agents {
		h, ok := r.dir.Lookup(name)
		if !ok || !h.Agent.Exists() {
			return unknownAgent(name, r.dir)
		}
		r.consider(&h, h.Agent.Name, Target)
	}
	return nil
}

// consider judges one agent and adds it to the plan. One that nobody knows has only a name.
func (r *router) consider(h *Hint, name string, tier Tier) {
	if r.seen[name] {
		return
	}
	r.seen[name] = true
	reason := NotRegistered
	if h.Agent.Name != "" {
		reason = r.judge(h)
	}
	r.note(h, name, tier, reason)
	r.count(h, reason)
}

func (r *router) note(h *Hint, name string, tier Tier, reason Reason) {
	r.plan.Considered = append(r.plan.Considered, Considered{
		Agent: name, Tier: tier, Eligible: reason.eligible(), Reason: reason, Why: r.why(h, reason),
	})
}

// count keeps what a refusal needs.
func (r *router) count(h *Hint, reason Reason) {
	switch reason {
	case CircuitOpen:
		at := r.circuit(&h.Agent).ResetAt
		if r.resetAt.IsZero() || at.Before(r.resetAt) {
			r.resetAt = at
		}
	case Excluded, NotRegistered, LacksCapability: // waiting does not change these
	default:
		r.others++
	}
}

func (r Reason) eligible() bool { return r == Fit || r == FitAsProbe }

// judge makes the checks of a transfer, the most permanent first, so that the reason is the one that waiting is least likely
// to change.
func (r *router) judge(h *Hint) Reason {
	reason := r.judgeAble(h)
	if reason != Excluded && reason != NotRegistered && !hasAll(&h.Agent.Spec, r.req.Needs) {
		return LacksCapability
	}
	return reason
}

// judgeAble is judge for an agent that has the needed capabilities.
func (r *router) judgeAble(h *Hint) Reason {
	a := &h.Agent
	circuit := r.circuit(a)
	switch {
	case slices.Contains(r.req.Exclude, a.Name):
		return Excluded
	case !a.Exists():
		return NotRegistered
	case a.Readiness() != agent.Ready && !a.Away():
		return NotReady
	case a.Spec.MaxTasks > 0 && h.Held >= a.Spec.MaxTasks:
		return Full
	case !circuit.Admits():
		return CircuitOpen
	case a.Away():
		return Away
	case circuit.Phase == agent.HalfOpen:
		return FitAsProbe
	default:
		return Fit
	}
}

// circuit is what an agent's circuits mean for the request.
func (r *router) circuit(a *agent.State) agent.Reading {
	if !a.Circuit.Open && len(a.SenderCircuits) == 0 { // as with most agents
		return agent.Reading{Phase: agent.Closed}
	}
	return agent.CircuitFor(*a, r.req.Sender, r.now, r.req.Own...)
}

func hasAll(s *agent.Spec, capabilities []string) bool {
	for _, c := range capabilities {
		if !s.Has(c) {
			return false
		}
	}
	return true
}

// why describes a reason in words that need no context.
func (r *router) why(h *Hint, reason Reason) string {
	switch reason {
	case Fit:
		return "ready, " + r.standing(h)
	case FitAsProbe:
		return "ready, " + r.standing(h) + "; its circuit is half-open, so this is the one probe"
	case Excluded:
		return "has the task already"
	case NotRegistered:
		return "not registered"
	case NotReady, Away:
		if h.Agent.Lapsed {
			return "offline, its heartbeats stopped"
		}
		return string(h.Agent.Readiness())
	case LacksCapability:
		return "lacks " + strings.Join(lacking(h.Agent.Spec, r.req.Needs), ", ")
	case Full:
		return "full, " + load(h)
	case CircuitOpen:
		c := r.circuit(&h.Agent)
		why := "circuit open until " + c.ResetAt.UTC().Format(time.RFC3339)
		if c.Sender != "" {
			why += " for this sender"
		}
		return why
	}
	return string(reason)
}

// standing describes the values by which an agent is ranked.
func (r *router) standing(h *Hint) string {
	s, spec := load(h), &h.Agent.Spec
	if liked := slices.DeleteFunc(slices.Clone(r.req.Likes), func(c string) bool { return !spec.Has(c) }); len(liked) > 0 {
		s += ", knows " + strings.Join(liked, " and ")
	}
	if n := h.Agent.Circuit.Failures; n > 0 {
		s += ", " + refusal.Counted(n, "failure") + " in a row"
	}
	if spec.Estimates.Cost > 0 {
		s += fmt.Sprintf(", costs about %d millionths", spec.Estimates.Cost)
	}
	if spec.Estimates.Latency > 0 {
		s += ", takes about " + event.Duration(spec.Estimates.Latency).String()
	}
	return s
}

func load(h *Hint) string {
	if h.Agent.Spec.MaxTasks == 0 {
		return "holds " + refusal.Counted(h.Held, "task")
	}
	return fmt.Sprintf("holds %d of %s", h.Held, refusal.Counted(h.Agent.Spec.MaxTasks, "task"))
}

func lacking(s agent.Spec, capabilities []string) []string {
	var list []string
	for _, c := range capabilities {
		if !s.Has(c) {
			list = append(list, c)
		}
	}
	return list
}

// addFallbacks considers the fallbacks of the targets, then the fallbacks of those, and so on.
func (r *router) addFallbacks(targets []Considered) {
	var queue []string
	for _, c := range targets {
		queue = append(queue, c.Agent)
	}
	for left := MaxFallbacks; len(queue) > 0; queue = queue[1:] {
		for _, name := range r.fallbacksOf(queue[0]) {
			if left == 0 {
				return
			}
			if !r.seen[name] {
				h, _ := r.dir.Lookup(name)
				r.consider(&h, cmp.Or(h.Agent.Name, name), Fallback)
				queue = append(queue, name)
				left--
			}
		}
	}
}

// fallbacksOf returns the agents to try if an agent cannot take the task.
func (r *router) fallbacksOf(agent string) []string {
	h, _ := r.dir.Lookup(agent)
	list := h.Agent.Spec.Fallbacks
	if r.req.Fallbacks != nil {
		list = slices.Concat(list, r.req.Fallbacks(agent))
	}
	return list
}

// refuse returns the refusal if no agent is eligible.
func (r *router) refuse() error {
	names := make([]string, 0, maxSuggested+1)
	for _, c := range r.plan.Considered {
		if len(names) == maxSuggested {
			names = append(names, fmt.Sprintf("and %d more", len(r.plan.Considered)-maxSuggested+r.plan.Omitted))
			break
		}
		names = append(names, c.Agent+": "+c.Why)
	}
	list := strings.Join(names, "; ")
	if r.others == 0 && !r.resetAt.IsZero() {
		at := r.resetAt.UTC().Format(time.RFC3339)
		return refusal.New(refusal.CircuitOpen, "try again after "+at+", or name another agent",
			"the circuit of every agent that could take this is open until %s at the earliest (%s)", at, list).
			With("reset_at", at).With("considered", r.plan.Considered)
	}
	return refusal.New(refusal.Unavailable, "try again later, name another agent, or give the agent fallbacks",
		"no agent can take this now (%s)", list).With("considered", r.plan.Considered)
}
