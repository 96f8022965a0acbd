package agents

import (
	"context"
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// RegisterInput adds an agent, or replaces what is known about it.
type RegisterInput struct {
	Name string    `json:"name,omitempty"`
	Spec AgentSpec `json:"spec"`
}

// Register adds an agent, or replaces its specification. Under the name of one that was removed it adds another agent: it has none of the tasks, memory items,
// conversations, subscriptions and tokens of the first, and no failure of its circuits. A program that registers itself without a
// lease of presence has the default one.
func (a *Agents) Register(ctx context.Context, c caller.Caller, in RegisterInput) (Agent, error) {
	err := ownOrAgents(c, in.Name, "register an agent")
	if c.Agent() != "" && in.Name == c.Agent() {
		in.Name = event.AgentName(in.Name)
	}
	if err == nil {
		err = refusal.In("id", event.CheckName("the agent's name", in.Name))
	}
	if err == nil && in.Name == routing.Auto {
		err = refusal.New(refusal.Invalid, "choose another name", "%q is reserved: a task that is sent to it goes where the policy decides", in.Name)
	}
	if err != nil {
		return Agent{}, a.access.Refused(ctx, c.Workspace, c.Actor(), "register", in.Name, err)
	}
	if c.Agent() != "" {
		known, err := a.store.Find(ctx, c.Workspace, in.Name, true)
		if err == nil && !sameStanding(specOf(known.Spec), in.Spec) {
			err = refusal.New(refusal.NotPermitted, "have an operator [register it](agent add), or leave those fields as they are",
				"agent %s may not change its own kind, capabilities, limits, breaker, hints, fallbacks or ways to be reached", in.Name)
		}
		if err != nil {
			return Agent{}, a.access.Refused(ctx, c.Workspace, c.Actor(), "register", in.Name, err)
		}
	}
	if err := a.checkReach(ctx, c.Workspace, in.Name, in.Spec); err != nil {
		return Agent{}, a.access.Refused(ctx, c.Workspace, c.Actor(), "register", in.Name, err)
	}
	if err := a.checkCircles(ctx, c.Workspace, in.Name, in.Spec); err != nil {
		return Agent{}, a.access.Refused(ctx, c.Workspace, c.Actor(), "register", in.Name, err)
	}
	spec := in.Spec.spec()
	if c.Agent() != "" && spec.PresenceTTL == 0 && spec.Kind != agent.KindHuman { // it is connected
		spec.PresenceTTL = agent.DefaultPresence
	}
	return a.do(ctx, c, "register", in.Name, in, agent.Register{Name: in.Name, Spec: spec})
}

// checkReach refuses (invalid) a way to be reached by which nothing is delivered: offers would wait for an agent that is not told of
// them. What is recorded of an agent already stays as it is.
func (a *Agents) checkReach(ctx context.Context, workspace, name string, spec AgentSpec) error {
	for _, w := range spec.Reach {
		if w.Kind == agent.ReachPull || !agent.ReachKinds.Has(w.Kind) { // the rules refuse an unknown one
			continue
		}
		known, err := a.store.Known(ctx, workspace, name, true)
		if err != nil {
			return err
		}
		if !slices.Contains(known.Spec.Reach, w) {
			return refusal.New(refusal.Invalid, "leave it out: the agent then asks for its inbox (pull), as every agent can", "offers are not delivered by %s yet", w.Kind)
		}
	}
	return nil
}
