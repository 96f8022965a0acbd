package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Ask asks people a question, as the owner. The task waits without a lease. The owner resumes with the answer, or when
// nobody has answered in time.
type Ask struct {
	By       identity.Principal
	Epoch    uint64
	Desk     string // empty: the operators
	To       string // one agent or person by name, who alone may answer until the ticket escalates; empty: everybody at the desk
	Then     string // the desk that it escalates to; empty: the operators
	Question string
	Options  []string       // if not empty, the answer is one of them
	Within   event.Duration // how long each desk has; 0: as the task has it
}

func (c Ask) decide(t task.Task, now time.Time) ([]event.Event, error) {
	events, err := requireWorking(t, c.By, c.Epoch, now)
	if err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.To != "" && c.To == c.By.Agent() {
		return nil, refusal.New(refusal.Invalid, "name somebody else, or a desk", "%s cannot ask itself", c.To)
	}
	if k := t.OpenTicket(); k != nil {
		return nil, refusal.New(refusal.Conflict, "ask them directly, or [release the ticket](ticket release) with your question as the detail",
			"you own task %s by ticket %s: a task has one open ticket at a time", t.ID, event.TicketID(t.ID, k.N))
	}
	d := decision{t: t}
	d.do(events...)
	e := opened(d.t, c.Desk, c.Then, c.Within.Or(time.Duration(t.Times.Answer)), now)
	e.Kind, e.To, e.Question, e.Options = event.TicketQuestion, c.To, c.Question, c.Options
	if e.To != "" && e.Then == "" { // one person did not answer: then the whole desk is asked
		e.Then = e.Desk
	}
	d.do(e)
	return d.events, nil
}

func (c Ask) check() error {
	return firstError(event.CheckQuestion(c.Question, c.Options), refusal.In("desk", event.CheckOptional("a desk's name", c.Desk)),
		refusal.In("to", event.CheckOptional("an agent's name", c.To)), refusal.In("then", event.CheckOptional("a desk's name", c.Then)), refusal.In("within", c.Within.Check("the time to answer")))
}
