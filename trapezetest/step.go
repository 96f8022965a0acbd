package trapezetest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// beatEvery is the interval of signs of life of an agent that works, by the server's clock. The default lease is 30 minutes.
const beatEvery = 10 * time.Minute

// A Step is one thing that a scripted agent does with a task that it accepted.
type Step struct {
	name string
	do   func(ctx context.Context, j *Job) error
}

// Do calls code under test with the task. What it returns is noted like a refusal.
func Do(what string, fn func(ctx context.Context, j *Job) error) Step { return Step{what, fn} }

// Fact adds a fact to what goes along with the next handoff. A fact with the id of an earlier one replaces it.
func Fact(id, text string) Step {
	return Step{"fact " + id, func(_ context.Context, j *Job) error {
		j.Content.Facts = append(j.Content.Facts, client.Point{ID: id, Text: text})
		return nil
	}}
}

// Decision adds a decision to what goes along with the next handoff. A decision with the id of an earlier one replaces it.
func Decision(id, text string) Step {
	return Step{"decision " + id, func(_ context.Context, j *Job) error {
		j.Content.Decisions = append(j.Content.Decisions, client.Point{ID: id, Text: text})
		return nil
	}}
}

// Constrain adds a constraint to the task, or tightens one.
func Constrain(c client.Constraint) Step {
	return Step{"constrain", func(ctx context.Context, j *Job) error {
		_, err := j.Client.Constrain(ctx, j.Task, client.ConstrainInput{Epoch: j.Epoch, Constraint: c})
		return err
	}}
}

// Progress reports progress, which renews the lease.
func Progress(note string) Step {
	return Step{"progress", func(ctx context.Context, j *Job) error {
		_, err := j.Client.Progress(ctx, j.Task, client.ProgressInput{Epoch: j.Epoch, Note: note})
		return err
	}}
}

// HandOn hands the task to other agents, in order of preference.
func HandOn(to ...string) Step { return Send(client.SendInput{To: to}) }

// Send hands the task on as the input says, with what earlier steps added. The epoch is filled in.
func Send(in client.SendInput) Step {
	return Step{"send", func(ctx context.Context, j *Job) error {
		in := in
		in.Epoch = j.Epoch
		in.Content = joined(in.Content, j.Content)
		j.Content = client.Content{}
		r, err := j.Client.Send(ctx, j.Task, in)
		if err == nil {
			j.agent.sent = append(j.agent.sent, sent{j.Task, r.Handoff, r.Epoch})
		}
		return err
	}}
}

// joined is a content with the facts and decisions of another added.
func joined(c, more client.Content) client.Content {
	if c.IsZero() {
		return more
	}
	c.Facts, c.Decisions = slices.Concat(c.Facts, more.Facts), slices.Concat(c.Decisions, more.Decisions)
	return c
}

// Delegate gives a part of the task to another agent, as a task of its own, and waits for its result. The steps after it come then.
func Delegate(to string, in client.Content) Step {
	return Step{"delegate", func(ctx context.Context, j *Job) error {
		_, err := j.Client.Send(ctx, j.Task, client.SendInput{Epoch: j.Epoch, To: []string{to}, Kind: client.Delegation, Content: joined(in, j.Content)})
		j.delegated = err == nil
		return err
	}}
}

// Complete completes the task with a text as its result.
func Complete(text string) Step { return CompleteWith(client.Result{Text: text}) }

// CompleteWith completes the task with a result.
func CompleteWith(r client.Result) Step {
	return Step{"complete", func(ctx context.Context, j *Job) error {
		_, err := j.Client.Complete(ctx, j.Task, client.CompleteInput{Epoch: j.Epoch, Result: r})
		return err
	}}
}

// Fail ends the task as failed.
func Fail(why string) Step {
	return Step{"fail", func(ctx context.Context, j *Job) error {
		_, err := j.Client.Fail(ctx, j.Task, client.FailInput{Epoch: j.Epoch, Detail: why})
		return err
	}}
}

// Work takes a time by the server's clock, during which the agent gives signs of life.
func Work(d time.Duration) Step {
	return Step{"work", func(_ context.Context, j *Job) error {
		j.at = j.agent.s.Now().Add(d)
		j.beat = j.agent.s.Now().Add(beatEvery)
		return nil
	}}
}

// Stall takes a time by the server's clock without a sign of life: when it is longer than the lease, the task is recovered meanwhile.
func Stall(d time.Duration) Step {
	return Step{"stall", func(_ context.Context, j *Job) error {
		j.at = j.agent.s.Now().Add(d)
		return nil
	}}
}

// Die ends the agent: it does nothing more, with this or any other task.
func Die() Step {
	return Step{"die", func(_ context.Context, j *Job) error {
		j.agent.dead = true
		j.agent.remark(j.Task, "died")
		return nil
	}}
}

// Flood creates tasks for another agent, as fast as the server takes them. The first refusal, such as of a limit, ends the flood, and
// not the job: [Chain.Story] has it.
func Flood(to string, tasks int) Step {
	return Step{"flood", func(ctx context.Context, j *Job) error {
		for n := range tasks {
			_, err := j.Client.CreateTask(ctx, client.CreateInput{
				Intent: fmt.Sprintf("flood %d of %s", n+1, j.agent.name), Send: &client.SendInput{To: []string{to}},
			})
			if err != nil {
				j.agent.remark(j.Task, fmt.Sprintf("flooded %s with %d tasks, until: %v", to, n, err))
				return nil
			}
		}
		j.agent.remark(j.Task, fmt.Sprintf("flooded %s with %d tasks", to, tasks))
		return nil
	}}
}
