package taskstore

import (
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// told adds to a refusal of what an agent does to a task that it lost: who took or ended it, why, and that the agent is to stop.
func told(t task.Task, agent string, err error) error {
	n, no := t.Notices.To(agent), (*refusal.Error)(nil)
	if err != nil && n != nil && n.Epoch != 0 {
		no, _ = refusal.As(err)
	}
	if no == nil || no.Code != refusal.NotOwner && no.Code != refusal.StaleEpoch && no.Code != refusal.Conflict {
		return err
	}
	what, hint := "", "stop working on it: nothing that you do to it counts any more"
	switch n.Kind {
	case task.NoticeTaken:
		what = n.By + " took it"
	case task.NoticeCancelled:
		what = n.By + " cancelled it"
	case task.NoticeParked:
		hint = "stop working on it; " + task.Replay(t.ID)
	case task.NoticeCompleted, task.NoticeFailed:
		return err
	}
	what = strings.TrimPrefix(strings.TrimSuffix(what+": "+n.Why, ": "), ": ")
	what = refusal.Clip(what, maxTold)
	message := no.Message
	switch why, cancels := strings.CutPrefix(what, n.By+" cancelled it"); { // the rules may say it
	case strings.Contains(message, what):
	case cancels && strings.Contains(message, n.By+" cancelled it"):
		message += why
	default:
		message += "; " + what
	}
	return refusal.New(no.Code, hint, "%s", message).WithAll(no.Details).With("notice", what)
}

// maxTold is how many bytes of a notice a refusal repeats.
const maxTold = 500
