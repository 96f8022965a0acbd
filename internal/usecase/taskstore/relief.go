package taskstore

import (
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
)

// Relief is what came of moving work away from an agent.
type Relief struct {
	Agent    string          `json:"agent"`
	Moved    []MovedTask     `json:"moved"`
	Kept     []KeptTask      `json:"kept" doc:"What stays with the agent, and why."`
	More     bool            `json:"more,omitempty" doc:"There is more to move: repeat the call with a new key."`
	Position ledger.Position `json:"position"`
}

// MovedTask is a task, or an offer of one, that is on its way to somebody else.
type MovedTask struct {
	Task    string   `json:"task"`
	Handoff string   `json:"handoff"`
	To      []string `json:"to,omitempty" doc:"Who is asked first."`
}

// KeptTask is a task that stays where it is.
type KeptTask struct {
	Task string       `json:"task"`
	Code refusal.Code `json:"code,omitempty" doc:"Of the refusal; none where nobody else could take it now."`
	Why  string       `json:"why"`
	Hint string       `json:"hint,omitempty" doc:"What to do next."`
}

// At returns the position up to which the answer is true.
func (r Relief) At() ledger.Position { return r.Position }

// Take notes what became of one task. What is refused stays; other errors end the whole.
func (r *Relief) Take(task string, out stream.Outcome[task.Task], err error) error {
	no, refused := refusal.As(err)
	if refused && no.Code == refusal.Unavailable {
		_, refused = no.Details["passed_over"] // nobody can take it; otherwise the record cannot be written
	}
	switch {
	case refused && no.Code != refusal.Unknown:
		r.Kept = append(r.Kept, KeptTask{Task: task, Code: no.Code, Why: no.Message, Hint: no.Hint})
	case err != nil:
		return err
	case len(out.Events) > 0 && out.State.State == event.Parked:
		r.Kept, r.Position = append(r.Kept, KeptTask{Task: task, Code: refusal.Limit, Why: "it is in the dead letters now: " + out.State.Parked.Detail}), max(r.Position, out.At)
	case len(out.Events) == 0 || out.State.Handoff == nil:
		r.Kept = append(r.Kept, KeptTask{Task: task, Why: "nobody else can take it now"})
	default:
		h := out.State.Handoff
		r.Moved, r.Position = append(r.Moved, MovedTask{Task: task, Handoff: h.ID(task), To: h.To}), max(r.Position, out.At)
	}
	return nil
}
