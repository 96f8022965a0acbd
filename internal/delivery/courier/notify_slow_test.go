//go:build slow

package courier_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/delivery/notify"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/tickets"
)

// people is a sink that notes what it is told, and fails as often as it should.
type people struct {
	name  string // sinks of one name share a saved position
	mu    sync.Mutex
	told  []string
	fails int
	with  error
	most  int // notices, after which it hangs; 0: it never does
}

func (s *people) Name() string { return "people" + s.name }

func (s *people) Send(ctx context.Context, m notify.Message) error {
	n, ok := m.(notify.Ticket)
	if !ok {
		return notify.ErrRefused
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails > 0 {
		s.fails--
		return s.with
	}
	if s.most > 0 && len(s.told) == s.most {
		<-ctx.Done()
		return ctx.Err()
	}
	s.told = append(s.told, n.Event+" "+n.Desk)
	return nil
}

func (s *people) wants(t *testing.T, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.told, want) {
		t.Errorf("told %q, want %q", s.told, want)
	}
}

// asks has the agent "lead" ask the operators, and gives the task and the ticket.
func (p *post) asks() (task, ticket string) {
	p.Helper()
	r, err := p.app.Tasks.Create(p.Context(), p.as(identity.Agent, "lead"), &tasks.CreateInput{Intent: "pay", Start: true})
	if err != nil {
		p.Fatal(err)
	}
	asked, err := p.app.Tickets.Ask(p.Context(), p.as(identity.Agent, "lead"), tickets.AskInput{
		Task: r.Task, Epoch: r.Epoch, Question: "refund it?", Within: event.Duration(10 * time.Hour),
	})
	if err != nil {
		p.Fatal(err)
	}
	return r.Task, asked.Ticket
}

func TestPeopleAreToldAndRemindedAndTheOwnerGoesOnWithoutThem(t *testing.T) {
	bubble(t, func(p *post) {
		s := &people{}
		defer p.run(s)()
		task, ticket := p.asks()
		time.Sleep(time.Minute)
		s.wants(p.T, "ticket-opened operators")
		time.Sleep(5 * time.Hour)
		time.Sleep(4 * time.Hour)
		s.wants(p.T, "ticket-opened operators", "ticket-reminded operators", "ticket-reminded operators")
		time.Sleep(time.Hour)
		got, err := p.app.Tasks.Show(p.Context(), p.as(identity.Operator, "olga"), task)
		if err != nil || got.State != event.Executing || got.Owner != "lead" || got.Ticket.Outcome != event.TicketUnanswered {
			p.Errorf("%v: %+v", err, got.Task)
		}
		if _, err := p.app.Tickets.Answer(p.Context(), p.as(identity.Operator, "olga"), tickets.AnswerInput{ID: ticket, Answer: "yes"}); err == nil {
			p.Error("an answer came after the end")
		}
	})
}

func TestPeopleAreToldOfWhatWasAskedWhileNobodyTold(t *testing.T) {
	bubble(t, func(p *post) {
		p.asks()
		s := &people{}
		stop := p.run(s)
		time.Sleep(time.Minute)
		s.wants(p.T, "ticket-opened operators")
		stop()
		_, settled := p.asks()
		p.asks()
		if _, err := p.app.Tickets.Answer(p.Context(), p.as(identity.Operator, "olga"), tickets.AnswerInput{ID: settled, Answer: "yes"}); err != nil {
			p.Fatal(err)
		}
		defer p.run(s)()
		time.Sleep(time.Minute)
		s.wants(p.T, "ticket-opened operators", "ticket-opened operators") // what is settled is no news
	})
}

func TestAStopInTheMiddleOfNoticesRepeatsNone(t *testing.T) {
	bubble(t, func(p *post) {
		s := &people{most: 2}
		stop := p.run(s)
		time.Sleep(time.Minute)
		stop()
		for range 3 {
			p.asks()
		}
		stop = p.run(s)
		time.Sleep(time.Minute)
		stop()
		s.most = 0
		defer p.run(s)()
		time.Sleep(time.Minute)
		s.wants(p.T, "ticket-opened operators", "ticket-opened operators", "ticket-opened operators")
	})
}

func TestAReceiverThatFailsIsTriedAgainAndHoldsUpNobody(t *testing.T) {
	bubble(t, func(p *post) {
		shaky, deaf := &people{name: " shaky", fails: 3, with: errors.New("busy")}, &people{name: " deaf", fails: 1, with: notify.ErrRefused}
		defer p.run(shaky)()
		stop := p.run(deaf)
		p.asks()
		time.Sleep(time.Minute)
		shaky.wants(p.T, "ticket-opened operators")
		deaf.wants(p.T)
		stop()
	})
}

func TestAWaitForAnAnswerEndsWithItOrWithItsTime(t *testing.T) {
	bubble(t, func(p *post) {
		defer p.run()()
		_, ticket := p.asks()
		lead, olga := p.as(identity.Agent, "lead"), p.as(identity.Operator, "olga")
		begun := time.Now()
		k, err := p.app.Tickets.Show(p.Context(), lead, tickets.TicketInput{ID: ticket, Wait: 30 * time.Second})
		if err != nil || k.State != event.TicketStateOpen || time.Since(begun) != 30*time.Second {
			p.Errorf("after %s: %v, %+v", time.Since(begun), err, k)
		}
		time.AfterFunc(10*time.Second, func() {
			if _, err := p.app.Tickets.Answer(context.Background(), olga, tickets.AnswerInput{ID: ticket, Answer: "yes"}); err != nil {
				p.Error(err)
			}
		})
		begun = time.Now()
		k, err = p.app.Tickets.Show(p.Context(), lead, tickets.TicketInput{ID: ticket, Wait: 55 * time.Second})
		if err != nil || k.Answer != "yes" || time.Since(begun) > 20*time.Second {
			p.Errorf("after %s: %v, %+v", time.Since(begun), err, k)
		}
		if _, err := p.app.Tickets.Show(p.Context(), lead, tickets.TicketInput{ID: ticket, Wait: time.Minute}); err == nil {
			p.Error("a wait longer than clients wait was taken")
		}
	})
}

func TestOfTwoWhoAnswerAtOnceOneIsHeard(t *testing.T) {
	bubble(t, func(p *post) {
		_, ticket := p.asks()
		var wg sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			wg.Go(func() {
				_, errs[i] = p.app.Tickets.Answer(p.Context(), p.as(identity.Operator, "olga"), tickets.AnswerInput{ID: ticket, Answer: "yes"})
			})
		}
		wg.Wait()
		heard := 0
		for _, err := range errs {
			if err == nil {
				heard++
			}
		}
		if heard != 1 {
			p.Errorf("%d answers were taken: %v", heard, errs)
		}
	})
}
