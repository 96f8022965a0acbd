package webpage

import (
	"context"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/client"
)

// verbs are what the reader of a page may do with a ticket: the page has a button for each, and no other.
type verbs struct {
	Decide   bool // answer a question, approve or deny a handoff, claim either or deny the question
	Take     bool // claim a takeover
	Deny     bool // that nobody takes a task over
	Withdraw bool // take back what the reader has asked
	Release  bool
	Mine     bool // the reader has claimed it
}

// listed is a ticket with what the reader may do with it.
type listed struct {
	client.Ticket
	May verbs
}

// person is the agent of kind human that the reader is registered as; the zero agent: as none.
func (v *visit) person(ctx context.Context) client.Agent {
	name := v.me.Agent
	if operates(v.me) {
		name = v.me.Name
	}
	if name == "" {
		return client.Agent{}
	}
	a, err := v.api.Agent(ctx, name)
	if err != nil || a.Spec.Kind != "human" {
		return client.Agent{}
	}
	return a
}

// may is what the reader may do with a ticket, by the rules of the server. of is its task, if the reader may see it: the zero task is taken to be with the one who asks.
func (v *visit) may(t client.Ticket, person client.Agent, of client.Task) (m verbs) {
	if !acts(v.me) || !t.Open() {
		return m
	}
	asks, asked := samePerson(v.me, t.By), v.me.Agent != "" && v.me.Is(t.To)
	served := operates(v.me) || asked || t.To == "" && t.Kind != "approval" && person.Name != "" && slices.Contains(person.Spec.Capabilities, t.Desk)
	m.Mine = t.ClaimedBy != "" && samePerson(v.me, t.ClaimedBy)
	m.Release = t.State == "claimed" && (m.Mine || operates(v.me))
	if t.Kind == "takeover" {
		m.Release = m.Release && (of.ID == "" || of.State == client.Executing)
		open := t.State == "open"
		m.Deny = open && served
		m.Take = m.Deny && person.Name != ""
		m.Withdraw = open && !m.Deny && of.ID != "" && v.sources(of)
		return m
	}
	kept := t.State == "claimed" && !m.Mine && v.me.Now.Before(t.Kept)
	m.Decide = served && !asks && !kept
	m.Withdraw = t.Kind == "question" && v.me.Agent != "" && v.me.Is(t.By)
	return m
}

// sources reports whether a task would go on with the reader if its ticket were taken back.
func (v *visit) sources(of client.Task) bool {
	if of.Owner != "" {
		return v.me.Agent != "" && v.me.Is(of.Owner)
	}
	return of.Requester == string(v.me.Role)+"/"+v.me.Name || v.me.Agent != "" && v.me.Is(of.Requester)
}

// samePerson reports whether a recorded name is the reader's, in any role, as the rules of tickets have it.
func samePerson(me client.Me, name string) bool {
	if me.Is(name) {
		return true
	}
	_, bare, ok := strings.Cut(name, "/")
	if !ok {
		bare = name
	}
	return bare == me.Name && !strings.HasPrefix(name, "system/")
}
