package policies

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/routes"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Decider decides by the policy in force where a task goes. Its methods are safe for many goroutines.
type Decider struct {
	store  *Store
	routes *routes.Routes
	tasks  *taskstore.Store
	sealer *envelopes.Sealer
	make   func(policy.LLM) (routing.Adviser, error)

	mu       sync.Mutex
	advisers map[string]kept // by workspace
}

// NewDecider returns what decides by the policies of a store. adviser makes the adviser that a policy names, for tasks that no
// rule matches; nil: there is none.
func NewDecider(s *Store, r *routes.Routes, tasks *taskstore.Store, sealer *envelopes.Sealer, adviser func(policy.LLM) (routing.Adviser, error)) *Decider {
	return &Decider{store: s, routes: r, tasks: tasks, sealer: sealer, make: adviser, advisers: map[string]kept{}}
}

// Decide says what the policy in force makes of a task. Of q, it adds the policy, the agents, the adviser and the time. The
// adviser is asked by k, which takes [Consult]; without one it is not.
func (d *Decider) Decide(ctx context.Context, workspace string, q routing.Question, k *Consultation, now time.Time) (event.Decision, error) {
	p, err := d.store.Policy(ctx, workspace)
	if err != nil {
		return event.Decision{}, err
	}
	q.Policy, q.Adviser, q.Now = p, d.adviser(workspace, p, k), now
	out, err := d.routes.Consult(ctx, workspace, q)
	if err == nil && k.wanted() {
		err = errUnasked
	}
	return out, err
}

// Question is what a decision about a task is made on. Only who could hand the task off may ask.
func (d *Decider) Question(ctx context.Context, c caller.Caller, content envelopes.Content, t task.Task, now time.Time) (routing.Question, error) {
	if t.Source() != c.Agent() && t.Source() != c.String() && !c.IsSystem() && !identity.May(c.Role, identity.ActAny) {
		return routing.Question{}, refusal.New(refusal.NotOwner, "only who could hand the task off may ask where it should go", "task %s is not yours", t.ID)
	}
	doc, err := d.sealer.Said(ctx, c.Workspace, t, content)
	if err != nil {
		return routing.Question{}, err
	}
	s := situation(t, doc, now)
	q := routing.Question{Situation: &s, By: c.String(), Own: []string{t.NextHandoffID()}, Sender: t.SourcePrincipal()}
	if t.Owner != "" {
		q.Exclude = []string{t.Owner}
	}
	s.Agent.Name = t.Owner
	if name, is := strings.CutPrefix(t.Requester, "agent/"); is && t.Owner == "" {
		s.Agent.Name = name
	}
	if s.Agent.Name == "" {
		return q, nil
	}
	held, err := d.routes.Holder(ctx, c.Workspace, s.Agent.Name)
	s.Agent = policy.AgentView{
		Name: s.Agent.Name, Kind: string(held.Agent.Spec.Kind), Capabilities: held.Agent.Spec.Capabilities, Readiness: string(held.Agent.Readiness()),
		Held: held.Held, MaxTasks: held.Agent.Spec.MaxTasks, Failures: held.Agent.Circuit.Failures, ContextWindow: held.Agent.Spec.ContextWindow,
	}
	return q, err
}

// situation is a task as rules see it.
func situation(t task.Task, doc envelope.Envelope, now time.Time) policy.Situation {
	return policy.Situation{
		Task: policy.TaskView{
			ID: t.ID, Intent: t.Intent, Tags: t.Tags, Priority: t.Priority, State: t.State, Requester: t.Requester, Parent: t.Parent.Task,
			Steps: t.Marks + t.Used.Hops, Hops: t.Used.Hops, Handoffs: t.Used.Handoffs, Escalations: t.Used.Escalations,
			Tokens: t.Spent.Tokens, Cost: t.Spent.Cost, Budget: t.Budget, Elapsed: event.Duration(now.Sub(t.Created)),
			Progress: t.Progress, Permissions: t.Permissions,
		},
		Envelope: policy.EnvelopeView{
			State: doc.Task.State, Ask: doc.Task.Ask, Summary: doc.ConversationSummary, Facts: itemTexts(doc.KeyFacts), Decisions: itemTexts(doc.Decisions),
			OpenQuestions: doc.OpenQuestions, Confidence: doc.Confidence, Data: doc.Task.Data,
		},
	}
}

func itemTexts(items []envelope.Item) []string {
	list := make([]string, len(items))
	for i, item := range items {
		list[i] = item.Text
	}
	return list
}
