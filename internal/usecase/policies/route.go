package policies

import (
	"context"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Tasks is where tasks and what is said of them come from.
type Tasks struct {
	// For is a fresh read of a task that the caller may see.
	For func(ctx context.Context, c caller.Caller, id string) (taskstore.Task, error)
	// Change makes one decision on a task by a command of the rules.
	Change func(ctx context.Context, c caller.Caller, verb, task string, in any, cmd handoff.Command) (taskstore.Receipt, error)
	// Said is what a task's newest envelope says, with what a sender adds.
	Said func(ctx context.Context, workspace string, t task.Task, c envelopes.Content) (envelope.Envelope, error)
}

// Question is what a decision about a task is made on. Only who could hand the task off may ask.
func (b *Book) Question(ctx context.Context, c caller.Caller, content envelopes.Content, t task.Task, now time.Time) (routing.Question, error) {
	if t.Source() != c.Agent() && t.Source() != c.String() && !c.IsSystem() && !identity.May(c.Role, identity.ActAny) {
		return routing.Question{}, refusal.New(refusal.NotOwner, "only who could hand the task off may ask where it should go", "task %s is not yours", t.ID)
	}
	doc, err := b.tasks.Said(ctx, c.Workspace, t, content)
	if err != nil {
		return routing.Question{}, err
	}
	s := situation(t, doc, now)
	q := routing.Question{Situation: &s, By: c.String(), Own: []string{t.NextHandoffID()}}
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
	held, err := b.roster.Holder(ctx, c.Workspace, s.Agent.Name)
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

// RouteInput asks where a task would go.
type RouteInput struct {
	Task    string            `json:"task,omitempty"`
	Content envelopes.Content `json:"content,omitzero" doc:"What would be added to the envelope."`
	AskLLM  bool              `json:"ask_llm,omitempty" doc:"Where no rule matches, ask the language model that the policy names. What it is asked and says goes on the task's record."`
	// Policy is a policy file to try, instead of the one in force.
	Policy *PolicyInput `json:"policy,omitempty" doc:"A policy file to try instead of the one in force."`
}

// Routed is where a task would go.
type Routed struct {
	Task     string         `json:"task"`
	Decision event.Decision `json:"decision"`
}

// Route says what the policy makes of a task, and why, and changes nothing. It is for who could hand the task off, and on
// record as a read.
func (b *Book) Route(ctx context.Context, c caller.Caller, in RouteInput) (Routed, error) {
	d, err := b.route(ctx, c, in)
	if err != nil {
		return Routed{}, b.access.Refused(ctx, c.Workspace, c.Actor(), "route", in.Task, err)
	}
	return Routed{Task: in.Task, Decision: d}, nil
}

func (b *Book) route(ctx context.Context, c caller.Caller, in RouteInput) (event.Decision, error) {
	if err := in.Content.Check(); err != nil {
		return event.Decision{}, err
	}
	t, err := b.tasks.For(ctx, c, in.Task)
	if err != nil {
		return event.Decision{}, err
	}
	q, err := b.Question(ctx, c, in.Content, t.Task, b.now().UTC())
	if err != nil {
		return event.Decision{}, err
	}
	if err := b.access.Read(ctx, c.Workspace, c.Actor(), t.ID, "route", t.Envelope); err != nil {
		return event.Decision{}, err
	}
	if in.Policy != nil {
		return b.DecideBy(ctx, c, *in.Policy, q)
	}
	if !in.AskLLM {
		return b.Decide(ctx, c.Workspace, q, nil, b.now().UTC())
	}
	k := &Consultation{}
	d, err := Consult(ctx, k, func() (event.Decision, error) { return b.Decide(ctx, c.Workspace, q, k, b.now().UTC()) })
	if noted := b.Note(ctx, c, t.ID, k, &d, nil); err == nil {
		err = noted
	}
	return d, err
}
