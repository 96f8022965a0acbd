package client

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/client/wire"
)

// receipt makes a call that changes a task.
func (c *Client) receipt(ctx context.Context, in any, segments ...string) (Receipt, error) {
	return ask[Receipt](ctx, c, http.MethodPost, path(segments...), nil, in)
}

// CreateTask makes a task, and starts it or hands it off in the same decision if the input says so.
func (c *Client) CreateTask(ctx context.Context, in CreateInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks")
}

// Tasks lists the tasks that the token may see, newest first.
func (c *Client) Tasks(ctx context.Context, f TaskFilter) (TaskPage, error) {
	return ask[TaskPage](ctx, c, http.MethodGet, path("tasks"), f.query(), nil)
}

func (f TaskFilter) query() wire.Query {
	q := wire.Query{}
	q.Text("state", string(f.State))
	q.Text("owner", f.Owner)
	q.Text("parent", f.Parent)
	q.Text("after", f.After)
	q.Flag("live", f.Live)
	q.Number("limit", f.Limit)
	return q
}

// Task shows one task. The read is on record.
func (c *Client) Task(ctx context.Context, id string) (Task, error) {
	return c.WaitTask(ctx, id, 0, 0)
}

// WaitTask shows one task, as it is when it has an entry after a position, its Position as the caller knows it, or when wait is
// over, at most [MaxWait]. After 0 it waits until the task is completed, failed, cancelled or parked. The read is on record.
func (c *Client) WaitTask(ctx context.Context, id string, after uint64, wait time.Duration) (t Task, err error) {
	q := wire.Query{}
	q.Position("after", after)
	err = c.await(ctx, path("tasks", id), q, wait, &t)
	return t, err
}

// Start makes the calling agent the owner of its own pending task.
func (c *Client) Start(ctx context.Context, task string) (Receipt, error) {
	return c.receipt(ctx, nil, "tasks", task, "start")
}

// Send asks to hand a task to others and returns at once. The inbox, the task and the events say what comes of it.
func (c *Client) Send(ctx context.Context, task string, in SendInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "send")
}

// Escalate hands a task upwards because it is beyond its holder.
func (c *Client) Escalate(ctx context.Context, task string, in EscalateInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "escalate")
}

// Progress reports what the owner has done, and renews its lease.
func (c *Client) Progress(ctx context.Context, task string, in ProgressInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "progress")
}

// Stuck says that the task's owner gets nowhere: others are asked to take it over at once, with what it has reported. It is
// for the task's requester, who owns a task that it works for, and operators.
func (c *Client) Stuck(ctx context.Context, task string, in StuckInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "stuck")
}

// Heartbeat shows that the owner lives, and renews its lease. The receipt's Lease says until when.
func (c *Client) Heartbeat(ctx context.Context, task string, epoch uint64) (Receipt, error) {
	return c.receipt(ctx, HeartbeatInput{Epoch: epoch}, "tasks", task, "heartbeat")
}

// Complete finishes a task with its result.
func (c *Client) Complete(ctx context.Context, task string, in CompleteInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "complete")
}

// Fail ends a task as not done.
func (c *Client) Fail(ctx context.Context, task string, in FailInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "fail")
}

// Cancel calls a task off, children included.
func (c *Client) Cancel(ctx context.Context, task string, in CancelInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "cancel")
}

// Share gives a task's context to another agent. Ownership stays where it is.
func (c *Client) Share(ctx context.Context, task string, in ShareInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "share")
}

// Takeover asks for a task. An agent gets it at once where its owner is lost; otherwise the owner is asked. An operator
// takes it from whoever holds it and offers it to an agent.
func (c *Client) Takeover(ctx context.Context, task string, in TakeoverInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "takeover")
}

// Constrain adds a constraint, or tightens one.
func (c *Client) Constrain(ctx context.Context, task string, in ConstrainInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "constraints")
}

// Lift takes a constraint away, as the principal that set it or an operator, and says why.
func (c *Client) Lift(ctx context.Context, task, constraint, why string) (Receipt, error) {
	return ask[Receipt](ctx, c, http.MethodDelete, path("tasks", task, "constraints", constraint), wire.Query{"why": {why}}, nil)
}

// Annotate corrects or comments on an earlier entry of a task.
func (c *Client) Annotate(ctx context.Context, task string, in AnnotateInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "annotations")
}

// Dead lists the tasks in the dead-letter queue, newest first. The filter's State and Live do not count.
func (c *Client) Dead(ctx context.Context, f TaskFilter) (TaskPage, error) {
	f.State, f.Live = "", false
	return ask[TaskPage](ctx, c, http.MethodGet, path("dead"), f.query(), nil)
}

// Replay revives a task from the dead letters with fresh limits.
func (c *Client) Replay(ctx context.Context, task string, in ReplayInput) (Receipt, error) {
	return c.receipt(ctx, in, "dead", task, "replay")
}

// Discard gives a task in the dead letters up, for a reason.
func (c *Client) Discard(ctx context.Context, task, why string) (Receipt, error) {
	return c.receipt(ctx, DiscardInput{Why: why}, "dead", task, "discard")
}
