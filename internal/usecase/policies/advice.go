package policies

import (
	"context"
	"errors"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Consultation is what one call asks of the adviser: once at most, however often the decision is made again. It is for one
// call, and not for several goroutines.
type Consultation struct {
	adviser  routing.Adviser
	question *question
	asked    bool
	advice   routing.Advice
	err      error
}

// question is what the adviser is to be asked.
type question struct {
	by        string
	situation *policy.Situation
	choices   []routing.Choice
}

// errUnasked ends a decision that needs advice which nobody was asked for yet.
var errUnasked = errors.New("the adviser has to be asked first")

// Consult makes a decision with k; and where it needs advice, asks for that and makes the decision again. A model takes its time,
// but a decision is made at one moment, about the task, the agents and the policy as they are then: nobody is asked while it is
// made.
func Consult[T any](ctx context.Context, k *Consultation, decide func() (T, error)) (T, error) {
	out, err := decide()
	if !errors.Is(err, errUnasked) {
		return out, err
	}
	k.ask(ctx)
	return decide()
}

func (k *Consultation) ask(ctx context.Context) {
	defer ledger.Pause(ctx)()
	k.advice, k.err = k.adviser.Advise(ctx, k.question.by, k.question.situation, k.question.choices)
	k.asked = true
}

// Advise implements [routing.Adviser]: what the adviser said, or a note of what it is to be asked.
func (k *Consultation) Advise(_ context.Context, by string, s *policy.Situation, choices []routing.Choice) (routing.Advice, error) {
	if !k.asked {
		k.question = &question{by, s, choices}
	}
	return k.advice, k.err
}

// wanted reports whether a decision waits for advice.
func (k *Consultation) wanted() bool { return k != nil && k.question != nil && !k.asked }

// told reports whether the adviser was told of the task: a budget that is spent, or a model that is left alone, keeps it from that.
func (k *Consultation) told() bool { return k != nil && k.advice.Told.Tries > 0 }

// record is what is recorded of it: what the adviser was asked, what it said, and what came of that. d is the decision, and
// refused why it could not be followed, if it could not.
func (k *Consultation) record(d event.Decision, refused error) event.AdviceTaken {
	told := k.advice.Told
	e := event.AdviceTaken{
		Policy: d.Policy, Model: told.Model, Outcome: event.AdvisedKeep, Why: k.advice.Why,
		Prompt: refusal.Clip(told.Prompt, event.MaxAdvicePrompt), Answer: refusal.Clip(told.Answer, event.MaxAdviceAnswer),
		Tokens: told.Tokens, Tries: told.Tries, Took: event.Duration(told.Took),
	}
	if k.advice.HandOff {
		e.Outcome, e.To = event.AdvisedHandOff, event.Receiver{Agent: k.advice.Agent, Capability: k.advice.Capability}
		e.Kind, e.Reason = k.advice.Kind, k.advice.Reason
	}
	e.Confidence = k.advice.Confidence
	err := k.err
	switch {
	case err != nil && told.Answer == "":
		e.Outcome = event.AdviceFailed
	case err != nil:
		e.Outcome = event.AdviceRefused
	case refused != nil:
		e.Outcome, err = event.AdviceRefused, refused
	case d.Rule != event.AdviceRule && d.Rule != "":
		e.Outcome, e.Why = event.AdviceRefused, "by then the rule "+d.Rule+" matched"
	case d.Rule == "" && len(d.Why) > 0: // such as what is no choice any more
		e.Outcome, e.Why = event.AdviceRefused, d.Why[len(d.Why)-1]
	}
	if err != nil {
		e.Why = err.Error()
		if r, ok := refusal.As(err); ok {
			e.Why = r.Message
		}
	}
	e.Why = refusal.Clip(e.Why, event.MaxText)
	return e
}

// Settle is the events of a decision about t: what the adviser was told, if it was, and then those of the handoff that
// follows. Advice alone sends no task to the dead letters: where the rules would, the decision becomes one to keep it.
func (k *Consultation) Settle(t task.Task, d *event.Decision, sent []event.Event, now time.Time) ([]event.Event, error) {
	if !k.told() {
		return sent, nil
	}
	taken := k.record(*d, nil)
	if why := parked(sent); why != "" && d.Rule == event.AdviceRule {
		sent, taken.Outcome, taken.Why = nil, event.AdviceRefused, why
		*d = event.Decision{Policy: d.Policy, Action: event.ActionKeep, Why: append(d.Why, "the rules do not allow it: "+why), Broken: d.Broken}
	}
	events, err := handoff.Decide(t, handoff.TakeAdvice{Advice: taken}, now)
	return append(events, sent...), err
}

// parked says why events send a task to the dead letters; empty if they do not.
func parked(events []event.Event) string {
	for _, e := range events {
		if p, is := e.(event.ParkedTask); is {
			return p.Detail
		}
	}
	return ""
}

// Note puts what the adviser was told in the record by itself, where no handoff follows: refused says why, if one was to.
func (d *Decider) Note(ctx context.Context, c caller.Caller, task string, k *Consultation, made *event.Decision, refused error) error {
	if !k.told() {
		return nil
	}
	if made == nil { // it came to none
		made = &event.Decision{}
	}
	ctx = context.WithoutCancel(ctx) // what was told to the model is recorded, also if the caller has gone
	server := caller.System(c.Workspace, "routing", c.Actor())
	_, err := d.tasks.Change(ctx, server, "advise", task, nil, handoff.TakeAdvice{Advice: k.record(*made, refused)})
	return err
}

// unasked is an adviser that is there and not asked.
type unasked struct{}

func (unasked) Advise(context.Context, string, *policy.Situation, []routing.Choice) (routing.Advice, error) {
	return routing.Advice{}, refusal.New(refusal.Unavailable, "ask it with ask_llm (--ask-llm)", "the language model is not asked in a dry run unless you say so")
}

// broken is an adviser that cannot be had.
type broken struct {
	model string
	err   error
}

func (b broken) Advise(context.Context, string, *policy.Situation, []routing.Choice) (routing.Advice, error) {
	return routing.Advice{Told: routing.Told{Model: b.model}}, b.err
}

// kept is an adviser that was made for a configuration.
type kept struct {
	llm     policy.LLM
	adviser routing.Adviser
}

// adviser is who is asked where no rule of a policy matches: by k, or by nobody; nil where the policy names none. One that
// was made is kept as long as its configuration stays, and with it what it has spent.
func (d *Decider) adviser(workspace string, p *policy.Policy, k *Consultation) routing.Adviser {
	if p == nil || p.LLM == nil || d.make == nil {
		return nil
	}
	if k == nil {
		return unasked{}
	}
	d.mu.Lock()
	have, ok := d.advisers[workspace]
	d.mu.Unlock()
	if ok && have.llm == *p.LLM {
		k.adviser = have.adviser
		return k
	}
	made, err := d.make(*p.LLM) // which may read the key from a file
	if err != nil {
		k.adviser = broken{p.LLM.Model, err}
		return k
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch have, ok = d.advisers[workspace]; {
	case ok && have.llm == *p.LLM: // somebody was faster
		made = have.adviser
	case d.store.InMemory(workspace) == p: // else another policy is in force by now
		d.advisers[workspace] = kept{*p.LLM, made}
	}
	k.adviser = made
	return k
}
