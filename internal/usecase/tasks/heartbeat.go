package tasks

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// HeartbeatInput shows that the owner lives.
type HeartbeatInput struct {
	Task  string `json:"task,omitempty" doc:"Id of the task."`
	Epoch uint64 `json:"epoch" doc:"The task's epoch as you know it."`
	Told  bool   `json:"told,omitempty" doc:"You have what you waited for, such as an answer: your inbox drops the item resumed."`
}

// Heartbeat renews the owner's lease when a third of it is gone; before that it only checks that the caller still
// owns the task.
func (ts *Tasks) Heartbeat(ctx context.Context, c caller.Caller, in HeartbeatInput) (taskstore.Receipt, error) {
	return ts.owned(ctx, c, "heartbeat", in.Task, in, func(by identity.Principal) handoff.Command {
		return handoff.Heartbeat{By: by, Epoch: in.Epoch, Told: in.Told}
	})
}
