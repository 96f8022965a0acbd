package phrases

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/routing/phrase"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// DoInput is a sentence that says what is to be done.
type DoInput struct {
	Text    string `json:"text" maxLength:"8192" doc:"What is to be done, in plain English, such as: hand this off to billing because it needs a refund."`
	Task    string `json:"task,omitempty" doc:"The task that \"this\" means. Left out: the only one that you hold, or, if you are no agent, that you requested."`
	Confirm string `json:"confirm,omitempty" doc:"The confirmation that the same call without it answered with. What changes anything is done only with it, and once; it is good for ten minutes, while the task stands as it did."`
}

// Intents lists everything that a sentence can ask for.
func Intents() []phrase.Intent { return phrase.Intents() }

// Understood is what a sentence was understood to say.
type Understood struct {
	Sentence   string        `json:"sentence" doc:"The same in one fixed form of words."`
	Intent     phrase.Intent `json:"intent"`
	Agent      string        `json:"agent,omitempty"`
	Task       string        `json:"task,omitempty"`
	Capability string        `json:"capability,omitempty"`
	Detail     string        `json:"detail,omitempty" doc:"The reason in words."`
}

// Done is what was understood, and what came of it.
type Done struct {
	Understood Understood         `json:"understood"`
	Confirm    string             `json:"confirm,omitempty" doc:"Nothing was done yet. Send the same call with this to have it done."`
	Receipt    *taskstore.Receipt `json:"receipt,omitempty" doc:"How the task stands after it was done."`
	Relief     *taskstore.Relief  `json:"relief,omitempty" doc:"What came of saying that an agent is stuck."`
	Trail      *view.Trail        `json:"trail,omitempty" doc:"All entries of the task, if the sentence asks for its history."`
	Handoffs   []view.TaskRow     `json:"handoffs,omitempty" doc:"Tasks with a handoff in progress, if the sentence asks for them."`
	More       bool               `json:"more,omitempty" doc:"There are more handoffs than are listed."`
}

// At is up to which position the answer is true.
func (d Done) At() ledger.Position {
	switch {
	case d.Receipt != nil:
		return d.Receipt.Position
	case d.Relief != nil:
		return d.Relief.Position
	}
	return 0
}

// Do does what a sentence says. What it does not understand is refused with what can be said instead; what it understands
// but would change something, it first asks to have confirmed.
func (ps *Phrases) Do(ctx context.Context, c caller.Caller, in DoInput) (Done, error) {
	said, err := ps.understand(ctx, c, in)
	if err != nil {
		return Done{}, ps.access.Refused(ctx, c.Workspace, c.Actor(), "do", in.Task, err)
	}
	if in.Confirm != "" && !said.Intent.Reads() {
		return ps.confirmed(ctx, c, said, in.Confirm)
	}
	if err := ps.resolve(ctx, c, &said); err != nil {
		return Done{}, err
	}
	done := Done{Understood: understood(said)}
	switch said.Intent {
	case phrase.History:
		done.Trail, err = ps.history.Trail(ctx, c, said.Task)
	case phrase.Active:
		done.Handoffs, done.More, err = ps.active(ctx, c)
	default:
		done.Confirm, err = ps.ask(ctx, c, said)
	}
	return done, err
}

func understood(s phrase.Instruction) Understood {
	return Understood{
		Sentence: s.Canonical(), Intent: s.Intent, Agent: s.Agent, Task: s.Task, Capability: s.Capability, Detail: s.Detail,
	}
}

// understand reads the sentence and finds everybody in it.
func (ps *Phrases) understand(ctx context.Context, c caller.Caller, in DoInput) (phrase.Instruction, error) {
	if err := c.May(identity.ReadOwn, "say what is to be done"); err != nil {
		return phrase.Instruction{}, err
	}
	said, err := phrase.Parse(in.Text)
	if err != nil {
		return said, err
	}
	if in.Task != "" {
		if err := event.CheckTaskID(in.Task); err != nil {
			return said, err
		}
		if said.Task != "" && said.Task != in.Task {
			return said, refusal.New(refusal.Invalid, "leave one of the two out", "the sentence is about task %s, and the call about task %s", said.Task, in.Task)
		}
		if means(said) {
			said.Task = in.Task
		}
	}
	if said.Intent == phrase.Takeover && c.Agent() == "" {
		return said, refusal.New(refusal.Invalid, "say: hand TASK off to AGENT", "only an agent takes over; as %s you say who is to have the task", c)
	}
	if err := ps.checkAgent(ctx, c, &said); err != nil {
		return said, err
	}
	return said, ps.checkCapability(ctx, c, said)
}

// means reports whether a sentence is about a task, though it may not name it.
func means(s phrase.Instruction) bool {
	return s.Intent != phrase.Active && (s.Intent != phrase.Stuck || s.Agent == "")
}

// confirmed does what was understood before, once: the confirmation is the call's idempotency key, so that a repeat finds the
// first outcome.
func (ps *Phrases) confirmed(ctx context.Context, c caller.Caller, said phrase.Instruction, token string) (Done, error) {
	k, err := ps.check(c, &said, token)
	if err != nil {
		return Done{}, ps.access.Refused(ctx, c.Workspace, c.Actor(), "do", said.Task, err)
	}
	c = c.WithKey("do " + token)
	if said.Intent == phrase.Stuck && said.Task == "" {
		return ps.relieve(ctx, c, said, k)
	}
	r, err := act(ctx, ps.tasks.Provided(ps.unmoved(said, k)), c, said, k.epoch)
	if err != nil {
		return Done{}, err
	}
	return Done{Understood: understood(said), Receipt: &r}, nil
}

// relieve says that an agent is stuck with all that it works on, while that is what it was.
func (ps *Phrases) relieve(ctx context.Context, c caller.Caller, said phrase.Instruction, k confirmation) (Done, error) {
	now, err := ps.holds(ctx, c, said.Agent)
	if err == nil && now != k.standing {
		err = ps.access.Refused(ctx, c.Workspace, c.Actor(), "do", "", moved("what agent "+said.Agent+" works on"))
	}
	if err != nil {
		return Done{}, err
	}
	r, err := ps.tasks.StuckAgent(ctx, c, tasks.StuckAgentInput{Agent: said.Agent, Detail: said.Detail})
	if err != nil {
		return Done{}, err
	}
	return Done{Understood: understood(said), Relief: &r}, nil
}

// act does what was said and confirmed, by the use case that bears its name.
func act(ctx context.Context, by *tasks.Tasks, c caller.Caller, said phrase.Instruction, epoch uint64) (taskstore.Receipt, error) {
	switch said.Intent {
	case phrase.Handoff:
		return by.Send(ctx, c, handoffs.SendInput{Task: said.Task, Epoch: epoch, To: []string{said.Agent}, Detail: said.Detail})
	case phrase.Specialist:
		in := handoffs.SendInput{Task: said.Task, Epoch: epoch, Capability: said.Capability, Reason: event.ReasonSpecialization, Detail: said.Detail}
		if in.Capability == "" {
			in.To = []string{routing.Auto}
		}
		return by.Send(ctx, c, in)
	case phrase.Escalate:
		return by.Escalate(ctx, c, tasks.EscalateInput{Task: said.Task, Epoch: epoch, To: said.Agent, Detail: said.Detail})
	case phrase.Takeover:
		return by.Takeover(ctx, c, tasks.TakeoverInput{Task: said.Task, From: said.Agent, Detail: said.Detail})
	case phrase.Stuck:
		return by.Stuck(ctx, c, tasks.StuckInput{Task: said.Task, Owner: said.Agent, Detail: said.Detail})
	default:
		return by.Share(ctx, c, tasks.ShareInput{Task: said.Task, Epoch: epoch, To: said.Agent, Detail: said.Detail})
	}
}

// Bounds of a list of active handoffs.
const (
	maxActive  = 100 // listed
	maxScanned = 5_000
)

// active lists the newest tasks with a handoff under way that the caller may see.
func (ps *Phrases) active(ctx context.Context, c caller.Caller) (list []view.TaskRow, more bool, err error) {
	f := view.TaskFilter{Live: true, Limit: view.MaxPage}
	for range maxScanned / view.MaxPage {
		page, err := ps.tasks.List(ctx, c, tasks.TasksInput{TaskFilter: f})
		if err != nil {
			return nil, false, err
		}
		for _, t := range page {
			if t.Stage == "" || t.Stage.Final() {
				continue
			}
			if len(list) == maxActive {
				return list, true, nil
			}
			list = append(list, t)
		}
		if len(page) < f.Limit {
			return list, false, nil
		}
		f.After = page[len(page)-1].ID
	}
	return list, true, nil
}
