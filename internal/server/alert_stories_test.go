package server

import (
	"fmt"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// story is how the condition of an alert comes and goes. It is told twice: begin and end work again.
type story struct {
	disk    bool // the server is restarted
	witness bool // the record has a witness
	// certificate is whether the server has TLS.
	certificate bool
	policy      string  // the policy file
	threshold   float64 // that the policy sets; 0: the default
	handoffs    int     // that the alert names
	tickets     int     // that the alert names
	agent       string  // that it is about
	sender      string  // that it names; "": it may name others

	begin    func(st *stage)
	raises   most // how long it is waited for
	end      func(st *stage)
	recovers most
}

func (st *stage) lead() *client.Client  { st.Helper(); return st.as("lead", client.AgentSpec{}) }
func (st *stage) coder() *client.Client { st.Helper(); return st.as("coder", client.AgentSpec{}) }

// hands has the lead hand a new task to an agent.
func (st *stage) hands(to string, in client.CreateInput, send client.SendInput) client.Receipt {
	st.Helper()
	return st.handsBy(st.lead(), to, in, send)
}

// turn is one of two agents that hand tasks on in turn: what one alone does is no fault of the system.
func (st *stage) turn(n int) *client.Client {
	st.Helper()
	if n%2 == 0 {
		return st.lead()
	}
	return st.as("second", client.AgentSpec{})
}

// handsBy has an agent hand a new task to another.
func (st *stage) handsBy(by *client.Client, to string, in client.CreateInput, send client.SendInput) client.Receipt {
	st.Helper()
	in.Intent, send.To = fmt.Sprint("work of round ", st.round), []string{to}
	in.Send = &send
	r, err := by.CreateTask(st.Context(), in)
	if err != nil {
		st.Fatal(err)
	}
	return r
}

// takes has an agent accept a handoff and complete the task.
func (st *stage) takes(by *client.Client, handoff string) {
	st.Helper()
	got, err := by.Accept(st.Context(), handoff, client.AcceptInput{})
	if err != nil {
		st.Fatal(err)
	}
	st.completes(by, got.Receipt)
}

func (st *stage) completes(by *client.Client, r client.Receipt) {
	st.Helper()
	if _, err := by.Complete(st.Context(), r.Task, client.CompleteInput{Epoch: r.Epoch, Result: client.Result{Text: "done"}}); err != nil {
		st.Fatal(err)
	}
}

// works has handoffs succeed.
func (st *stage) works(n int) {
	st.Helper()
	coder := st.coder()
	for range n {
		st.takes(coder, st.hands("coder", client.CreateInput{}, client.SendInput{}).Handoff)
	}
}

// fails has an agent accept tasks and fail them.
func (st *stage) fails(n int) {
	st.Helper()
	coder := st.coder()
	for range n {
		got, err := coder.Accept(st.Context(), st.hands("coder", client.CreateInput{}, client.SendInput{}).Handoff, client.AcceptInput{})
		if err != nil {
			st.Fatal(err)
		}
		if _, err := coder.Fail(st.Context(), got.Task, client.FailInput{Epoch: got.Epoch, Detail: "it cannot be done"}); err != nil {
			st.Fatal(err)
		}
	}
}

// answers has the agent come back: the probe that its circuit lets through succeeds.
func (st *stage) answers() {
	st.Helper()
	st.advance(2 * time.Minute)
	st.works(1)
}

// parks has offers expire that nobody has seen, and nobody else can take the tasks.
func (st *stage) parks() {
	st.Helper()
	st.coder()
	for range 2 {
		st.hands("coder", client.CreateInput{}, client.SendInput{Retries: new(int)})
	}
}

// asks has the owner of a task ask people.
func (st *stage) asks() {
	st.Helper()
	got, err := st.coder().Accept(st.Context(), st.hands("coder", client.CreateInput{}, client.SendInput{}).Handoff, client.AcceptInput{})
	if err != nil {
		st.Fatal(err)
	}
	if _, err := st.coder().Ask(st.Context(), got.Task, client.AskInput{Epoch: got.Epoch, Question: "May I?"}); err != nil {
		st.Fatal(err)
	}
}

// told has people answer.
func (st *stage) told() {
	st.Helper()
	page, err := st.boss.Tickets(st.Context(), client.TicketFilter{})
	if err != nil || len(page.Tickets) == 0 {
		st.Fatal(err, page)
	}
	for _, ticket := range page.Tickets {
		if _, err := st.boss.Answer(st.Context(), ticket.ID, client.AnswerInput{Answer: "yes"}); err != nil {
			st.Fatal(err)
		}
	}
}
