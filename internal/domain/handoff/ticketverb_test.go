package handoff_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/handoff/ticketverb"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

var now = time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)

func agentOf(name string) identity.Principal {
	return identity.Principal{Role: identity.Agent, Name: name}
}

func operator(name string) identity.Principal {
	return identity.Principal{Role: identity.Operator, Name: name}
}

// readers are all sorts of readers: who asks, an operator who asks for somebody else, people of the desk, of another one and who are asked by name, and others.
var readers = map[string]ticketverb.Reader{
	"ann": {By: agentOf("ann")}, "bob": {By: agentOf("bob")},
	"zoe": {By: agentOf("zoe"), Serves: []string{"billing"}, Agent: "zoe"}, "yan": {By: agentOf("yan"), Serves: []string{"billing"}, Agent: "yan"},
	"lena": {By: agentOf("lena"), Serves: []string{"legal"}, Agent: "lena"},
	"olga": {By: operator("olga"), Agent: "olga"}, "omar": {By: operator("omar")}, "ops-ann": {By: operator("ann"), Agent: ""},
	"local": {By: identity.Principal{Role: identity.Admin, Name: "local"}}, "eve": {By: identity.Principal{Role: identity.Auditor, Name: "eve"}},
	"zoe who audits": {By: identity.Principal{Role: identity.Auditor, Name: "zoe"}, Serves: []string{"billing"}, Agent: "zoe"},
}

// story is a task with a ticket, and the time.
type story struct {
	t    *testing.T
	task task.Task
	now  time.Time
}

// do gives commands; it is false if one is refused or does nothing.
func (s *story) do(commands ...handoff.Command) bool {
	for _, c := range commands {
		events, err := handoff.Decide(s.task, c, s.now)
		if err != nil || len(events) == 0 {
			return false
		}
		s.task = task.FoldAll(s.task, events)
	}
	return true
}

func (s *story) sealed() event.Sealed {
	return event.Sealed{Digest: s.task.Envelope + "+", Parent: s.task.Envelope, Bytes: []byte(`{}`)}
}

// begin is a task of ann that waits for people.
func begin(t *testing.T, ask func(s *story) handoff.Command) *story {
	s := &story{t: t, now: now}
	if !s.do(handoff.Create{By: agentOf("ann"), Task: "task_00000000000000000000000001", Intent: "pay it back"}, handoff.Start{By: agentOf("ann")}) || !s.do(ask(s)) {
		t.Fatal("the task does not begin")
	}
	return s
}

func question(change func(*handoff.Ask)) func(s *story) handoff.Command {
	return func(*story) handoff.Command {
		c := handoff.Ask{By: agentOf("ann"), Epoch: 1, Desk: "billing", Question: "refund it?"}
		change(&c)
		return c
	}
}

func sent(change func(*handoff.Send)) func(s *story) handoff.Command {
	return func(s *story) handoff.Command {
		c := handoff.Send{
			By: agentOf("ann"), Epoch: 1, Kind: event.Supervised, Reason: event.ReasonEscalation, Envelope: s.sealed(),
			Candidates: []event.Candidate{{Agent: "bob", Tier: event.TierTarget}},
		}
		change(&c)
		return c
	}
}

var kinds = map[string]func(s *story) handoff.Command{
	"a question":           question(func(*handoff.Ask) {}),
	"a question of choice": question(func(c *handoff.Ask) { c.Options = []string{"refund it", "keep it"} }),
	"a question by name":   question(func(c *handoff.Ask) { c.To = "yan" }),
	"an approval":          sent(func(*handoff.Send) {}),
	"an approval by name":  sent(func(c *handoff.Send) { c.Approver = "yan" }),
	"an approval that olga asked for": sent(func(c *handoff.Send) {
		c.By, c.Epoch = operator("olga"), 0
	}),
	"a takeover of nobody's task": func(s *story) handoff.Command {
		s.task = task.Task{}
		if !s.do(handoff.Create{By: agentOf("ann"), Task: "task_00000000000000000000000002", Intent: "pay it back"}) {
			s.t.Fatal("it is not created")
		}
		return sent(func(c *handoff.Send) {
			c.Epoch, c.Kind, c.Candidates = 0, event.Warm, []event.Candidate{{Desk: "billing", Tier: event.TierTarget}}
		})(s)
	},
	"a takeover": sent(func(c *handoff.Send) {
		c.Kind, c.Candidates = event.Warm, []event.Candidate{{Desk: "billing", Tier: event.TierTarget}}
	}),
}

func (s *story) claimedBy(name string) bool {
	r := readers[name]
	return s.do(handoff.Claim{By: r.By, Serves: r.Serves, Ticket: s.task.Ticket.N, Agent: r.Agent, Envelope: s.sealed()})
}

func (s *story) releasedBy(name string) bool {
	return s.claimedBy(name) && s.do(handoff.Release{By: readers[name].By, Epoch: s.task.Epoch, Ticket: s.task.Ticket.N})
}

var states = map[string]func(s *story) bool{
	"open":                    func(*story) bool { return true },
	"claimed by zoe":          func(s *story) bool { return s.claimedBy("zoe") },
	"claimed by yan":          func(s *story) bool { return s.claimedBy("yan") },
	"claimed by olga":         func(s *story) bool { return s.claimedBy("olga") },
	"claimed by zoe long ago": func(s *story) bool { ok := s.claimedBy("zoe"); s.now = s.task.Ticket.Kept.Add(time.Minute); return ok },
	"released by yan":         func(s *story) bool { return s.releasedBy("yan") },
	"released by olga":        func(s *story) bool { return s.releasedBy("olga") },
	"escalated": func(s *story) bool {
		s.now = s.task.Ticket.Due.Add(time.Minute)
		return s.do(handoff.Tick{}) && s.task.OpenTicket() != nil
	},
	"taken over and handed on": func(s *story) bool {
		return s.claimedBy("yan") && s.task.Owner == "yan" && s.do(handoff.Send{
			By: agentOf("yan"), Epoch: s.task.Epoch, Kind: event.Warm, Reason: event.ReasonEscalation, Envelope: s.sealed(), Candidates: []event.Candidate{{Agent: "bob", Tier: event.TierTarget}},
		})
	},
	"closed": func(s *story) bool {
		return s.do(handoff.DenyTicket{By: readers["omar"].By, Ticket: s.task.Ticket.N})
	},
}

// each tells of every kind of ticket in every state that it can be in.
func each(t *testing.T, f func(name string, s *story)) {
	t.Helper()
	for kind, ask := range kinds {
		for state, reach := range states {
			if s := begin(t, ask); reach(s) {
				f(kind+", "+state, s)
			}
		}
	}
}

// tried are the verbs that the rules accept from a reader with all that a caller gives.
func tried(s *story, r ticketverb.Reader) (accepted []ticketverb.Verb) {
	k := s.task.Ticket
	answer := append(slices.Clone(k.Options), "as you like")[0]
	withdraws := func(c handoff.Command) bool { _, is := c.(handoff.WithdrawTicket); return is }
	no := ticketverb.Denial(s.task, r, k.N, s.task.Epoch, "no")
	calls := map[ticketverb.Verb]handoff.Command{
		ticketverb.Answer:  handoff.Answer{By: r.By, Serves: r.Serves, Ticket: k.N, Answer: answer, Detail: "so"},
		ticketverb.Approve: handoff.Approve{By: r.By, Handoff: k.Handoff, Digest: s.task.Envelope},
		ticketverb.Claim:   handoff.Claim{By: r.By, Serves: r.Serves, Ticket: k.N, Agent: r.Agent, Envelope: s.sealed()},
		ticketverb.Release: handoff.Release{By: r.By, Epoch: s.task.Epoch, Ticket: k.N, Detail: "no time"},
	}
	if withdraws(no) {
		calls[ticketverb.Withdraw] = no
	} else {
		calls[ticketverb.Deny] = no
	}
	for _, verb := range ticketverb.All.Values() {
		if c := calls[verb]; c != nil {
			then := *s
			if then.do(c) && identity.May(r.By.Role, identity.ActOwn) {
				accepted = append(accepted, verb)
			}
		}
	}
	return accepted
}

// What a reader is told that it may do is what the rules accept from it, for every sort of reader, kind and state.
func TestTheVerbsThatAreListedAreThoseThatAreAccepted(t *testing.T) {
	seen := map[ticketverb.Verb]int{}
	pairs := 0
	each(t, func(name string, s *story) {
		for who, r := range readers {
			pairs++
			got, want := ticketverb.Of(s.task, r, s.now), tried(s, r)
			if !slices.Equal(got, want) {
				t.Errorf("%s, %s: %v is listed, and %v accepted", name, who, got, want)
			}
			for _, verb := range got {
				seen[verb]++
			}
		}
	})
	for _, verb := range ticketverb.All.Values() {
		if seen[verb] == 0 {
			t.Errorf("nobody may %s anything", verb)
		}
	}
	if pairs < 300 {
		t.Errorf("%d readers of tickets are too few", pairs)
	}
}

// What some of them may do, in words: the rest follows from the rules.
func TestWhoMayDoWhat(t *testing.T) {
	want := map[string]string{
		"a question, open, zoe": "answer deny claim", "a question, open, omar": "answer deny claim", "a question, open, ann": "withdraw", "a question, open, ops-ann": "", "a question, open, lena": "",
		"a question, open, eve": "", "a question, claimed by zoe, zoe": "answer deny release", "a question, claimed by zoe, yan": "", "a question, claimed by zoe, omar": "release",
		"a question, claimed by zoe long ago, yan": "answer deny claim", "a question, escalated, zoe": "", "a question, closed, omar": "", "a question by name, open, zoe": "", "a question by name, open, yan": "answer deny claim",
		"an approval, open, omar": "approve deny claim", "an approval, open, zoe": "", "an approval, open, ops-ann": "", "an approval by name, open, yan": "approve deny claim",
		"an approval that olga asked for, open, olga": "", "an approval that olga asked for, open, omar": "approve deny claim",
		"a takeover, open, zoe": "deny claim", "a takeover, open, omar": "deny", "a takeover, open, olga": "deny claim", "a takeover, open, ann": "withdraw",
		"a takeover of nobody's task, open, ann": "withdraw", "a takeover of nobody's task, open, bob": "", "a question, open, zoe who audits": "", "a question of choice, open, zoe": "answer deny claim",
		"a takeover, claimed by yan, yan": "release", "a takeover, claimed by yan, zoe": "", "a takeover, claimed by yan, omar": "release",
		"a takeover, released by yan, yan": "claim withdraw", "a takeover, released by yan, zoe": "deny claim", "a takeover, taken over and handed on, yan": "", "a takeover, taken over and handed on, omar": "",
	}
	each(t, func(name string, s *story) {
		for who, r := range readers {
			words, is := want[name+", "+who]
			if !is {
				continue
			}
			delete(want, name+", "+who)
			var got []string
			for _, verb := range ticketverb.Of(s.task, r, s.now) {
				got = append(got, string(verb))
			}
			if strings.Join(got, " ") != words {
				t.Errorf("%s, %s: %q, want %q", name, who, strings.Join(got, " "), words)
			}
		}
	})
	for name := range want {
		t.Errorf("%s was not seen", name)
	}
}

// A denial by the one who asked takes back what waits at a desk. An approval is not taken back by saying no to it.
func TestADenialIsAWithdrawalOnlyAtADesk(t *testing.T) {
	want := map[string]bool{
		"a question, open, ann": true, "a question, open, zoe": false, "a takeover, open, ann": true, "a takeover of nobody's task, open, ann": true, "a takeover of nobody's task, open, ops-ann": false,
		"a takeover, claimed by yan, yan": false, "an approval, open, ann": false, "an approval, open, omar": false,
	}
	each(t, func(name string, s *story) {
		for who, r := range readers {
			withdraws, is := want[name+", "+who]
			if !is {
				continue
			}
			delete(want, name+", "+who)
			if _, got := ticketverb.Denial(s.task, r, s.task.Ticket.N, s.task.Epoch, "").(handoff.WithdrawTicket); got != withdraws {
				t.Errorf("%s, %s: a denial withdraws the ticket: %t", name, who, got)
			}
		}
	})
	for name := range want {
		t.Errorf("%s was not seen", name)
	}
}
