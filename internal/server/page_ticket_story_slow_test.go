//go:build slow

package server

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// ticketStory is a ticket, and what is done with it.
type ticketStory struct {
	t     *testing.T
	s     *Server
	admin *client.Client
	zoe   *client.Client
	task  string
}

func (k ticketStory) claim()        { must(k.t)(k.zoe.Claim(k.t.Context(), k.task+".k1")) }
func (k ticketStory) claimAsAdmin() { must(k.t)(k.admin.Claim(k.t.Context(), k.task+".k1")) }
func (k ticketStory) release() {
	must(k.t)(k.admin.Release(k.t.Context(), k.task+".k1", client.ReleaseInput{Detail: "no time"}))
}

func (k ticketStory) answer() {
	must(k.t)(k.admin.Answer(k.t.Context(), k.task+".k1", client.AnswerInput{Answer: "yes"}))
}

func (k ticketStory) approve() {
	must(k.t)(k.admin.Approve(k.t.Context(), k.task+".k1", client.ApproveInput{}))
}

func (k ticketStory) deny() { must(k.t)(k.admin.Deny(k.t.Context(), k.task+".k1", client.DenyInput{})) }

func (k ticketStory) expire() {
	if _, err := k.s.Advance(k.t.Context(), 24*time.Hour); err != nil {
		k.t.Fatal(err)
	}
}

// ticketSteps are what is done with a ticket that open opens, with what the story says then, up to the time and after it; and lines of the timeline at the end.
type ticketSteps struct {
	open  func(t *testing.T, ann *client.Client) string
	steps []ticketStep
	tells []string
}

// ticketStep is a step, of which the first does nothing.
type ticketStep struct {
	do   func(ticketStory)
	says string
}

// What follows when the time is over, with the link behind it.
const (
	askedNext, unanswered = "the desk operators is asked Go to the ticket", "ann goes on without an answer Go to the ticket"
	returned, parkedThen  = "the task returns to its source Go to the ticket", "it goes to the dead letters Go to the ticket"
	working, replaced     = "ann works on it", "another agent is asked, if there is no sign of life before Look at the agent"
)

var ticketStories = map[string]ticketSteps{
	"a question": {asks(client.AskInput{Desk: "billing"}), []ticketStep{
		{nil, "Waits for a person of the desk billing: Refund it?|" + askedNext},
		{ticketStory.claim, "Waits for zoe, who has claimed it at the desk billing: Refund it?|" + askedNext},
		{ticketStory.release, "Waits for a person of the desk billing: Refund it?|" + askedNext},
		{ticketStory.expire, "Waits for a person of the desk operators, to which it has gone on: Refund it?|" + unanswered},
		{ticketStory.claimAsAdmin, "Waits for admin/local, who has claimed it at the desk operators, to which it has gone on: Refund it?|" + unanswered},
		{ticketStory.answer, working + "|" + replaced},
	}, []string{
		"ticket opened ann kind question · desk billing · then operators · “Refund it?”", "ticket claimed zoe kind question · desk billing", "ticket released admin/local kind question · desk billing · “no time”",
		"ticket reminded system/courier kind question · desk billing", "ticket escalated system/courier from billing · kind question · desk operators · “nobody of the desk billing saw to it in time”",
		"ticket claimed admin/local kind question · desk operators", "ticket closed admin/local kind question · desk operators · outcome answered · “yes”",
	}},
	"a question to the last desk": {asks(client.AskInput{}), []ticketStep{
		{nil, "Waits for a person of the desk operators: Refund it?|" + unanswered}, {ticketStory.expire, working + "|" + replaced},
	}, []string{"ticket opened ann kind question · desk operators · “Refund it?”", "ticket closed system/courier kind question · desk operators · outcome unanswered · “nobody answered in time”"}},
	"a question by name": {asks(client.AskInput{To: "zoe"}), []ticketStep{
		{nil, "Waits for zoe: Refund it?|" + askedNext},
		{ticketStory.claim, "Waits for zoe, who has claimed it: Refund it?|" + askedNext},
		{ticketStory.expire, "Waits for a person of the desk operators, to which it has gone on: Refund it?|" + unanswered},
		{ticketStory.expire, working + "|" + replaced},
	}, []string{"ticket escalated system/courier from operators · kind question · desk operators · “zoe did not see to it in time”"}},
	"an approval": {sends(client.SendInput{To: []string{"bob"}, Kind: client.Supervised}), []ticketStep{
		{nil, "Waits for a person of the desk operators, to approve its handoff|" + returned},
		{ticketStory.claimAsAdmin, "Waits for admin/local, who has claimed it at the desk operators, to approve its handoff|" + returned},
		{ticketStory.release, "Waits for a person of the desk operators, to approve its handoff|" + returned},
		{ticketStory.approve, "Offered to bob: not seen yet|it is offered to another, or goes to the dead letters Look at the agent"},
	}, []string{"approval asked ann desk operators", "ticket claimed admin/local kind approval · desk operators"}},
	"an approval by name": {sends(client.SendInput{To: []string{"bob"}, Kind: client.Supervised, Approver: "zoe", Content: client.Content{Ask: "Pay now"}}), []ticketStep{
		{nil, "Waits for zoe, to approve its handoff|" + askedNext},
		{ticketStory.claim, "Waits for zoe, who has claimed it, to approve its handoff|" + askedNext},
		{ticketStory.expire, "Waits for a person of the desk operators, to which it has gone on, to approve its handoff|" + returned},
		{ticketStory.expire, "Nobody owns it: ann has to send it|it goes to the dead letters Give it to an agent"},
	}, []string{"approval asked ann approver zoe · desk operators"}},
	"a takeover": {sends(client.SendInput{To: []string{"human:billing"}}), []ticketStep{
		{nil, "Waits for a person of the desk billing, to take it over|" + askedNext},
		{ticketStory.claim, "zoe has taken it over from the desk billing, and works on it|the desk operators is asked Look at the agent"},
		{ticketStory.release, "Waits for a person of the desk billing, to take it over|" + askedNext},
		{ticketStory.claim, "zoe has taken it over from the desk billing, and works on it|the desk operators is asked Look at the agent"},
		{ticketStory.expire, "Waits for a person of the desk operators, to which it has gone on, to take it over|" + parkedThen},
		{ticketStory.claimAsAdmin, "local has taken it over from the desk operators, and works on it|it goes to the dead letters Look at the agent"},
		{ticketStory.release, "Waits for a person of the desk operators, to which it has gone on, to take it over|" + parkedThen},
		{ticketStory.expire, "In the dead letters, nobody claimed: nobody of the desk operators took it in time Replay or discard it"},
	}, []string{
		"ticket opened ann kind takeover · desk billing · then operators · “take the task over”", "ticket claimed zoe kind takeover · desk billing", "handoff request zoe from ann · kind warm · reason escalation · “taken from the desk billing”",
		"ticket released admin/local kind takeover · desk billing · “no time”", "moved to the dead letters system/courier cause nobody claimed · “nobody of the desk operators took it in time”",
	}},
	"a takeover at the last desk": {sends(client.SendInput{To: []string{"human:operators"}, Detail: "The customer calls"}), []ticketStep{
		{nil, "Waits for a person of the desk operators, to take it over: The customer calls|" + parkedThen},
		{ticketStory.deny, "Nobody owns it: ann has to send it|it goes to the dead letters Give it to an agent"},
	}, []string{"ticket closed admin/local kind takeover · desk operators · outcome denied"}},
}

// The story of a task has one true sentence about its ticket in each state of each kind, with the desk, with who has claimed it and with what follows; and so has each line
// of its timeline that is about a ticket.
func TestAStorySaysWhatBecomesOfItsTicketInEachState(t *testing.T) {
	for name, c := range ticketStories {
		t.Run(name, func(t *testing.T) {
			s, admin, page, agents := crew(t, "ann", "bob")
			atDesk(t, s, admin)
			must(t)(admin.RegisterAgent(t.Context(), "local", client.AgentSpec{Kind: "human"}))
			token, err := admin.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAgent, Name: "zoe"})
			if err != nil {
				t.Fatal(err)
			}
			k := ticketStory{t, s, admin, connect(t, s, token.Text), ""}
			k.task = c.open(t, agents["ann"])
			body := ""
			for n, step := range c.steps {
				if step.do != nil {
					step.do(k)
				}
				page.get(page.link(adminToken(t, s)), http.StatusOK) // a session lasts 12 hours
				body = page.get("/tasks/"+k.task, http.StatusOK)
				got := texts(body, `<p class="stands`, "</p>")
				before, after, timed := strings.Cut(step.says, "|")
				if len(got) != 1 || !strings.HasPrefix(got[0], before) || !strings.HasSuffix(got[0], after) || timed != strings.Contains(got[0], " · 20") {
					t.Errorf("step %d says %q, not %q", n, got, step.says)
				}
			}
			lines := strings.Join(texts(body, `<li id="p`, "</li>"), "\n")
			for _, want := range c.tells {
				if !strings.Contains(lines+"\n", " "+want+"\n") {
					t.Errorf("the timeline lacks %q:\n%s", want, lines)
				}
			}
		})
	}
}
