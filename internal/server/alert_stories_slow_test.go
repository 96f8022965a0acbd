//go:build slow

package server

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/server/certificate/certtest"
)

// soon and later are how long alerts are waited for that need no time, and those with a window of an hour.
var (
	soon  = most{4, 2 * time.Second}
	later = most{13, 10 * time.Minute}
)

func stories() map[string]story {
	nothing := func(*stage) {} // the window passes
	return map[string]story{
		"handoff-failed":       {begin: func(st *stage) { st.rejects(1) }, raises: soon, handoffs: 1, end: nothing, recovers: most{4, 3 * time.Minute}},
		"handoff-failure-rate": {begin: func(st *stage) { st.works(99); st.rejects(2) }, raises: soon, handoffs: 2, end: nothing, recovers: later},
		"handoff-failure-rate: of the children of one agent alone":          {sender: "lead", begin: (*stage).fansOut, raises: soon, handoffs: 5, end: nothing, recovers: later},
		"handoffs-fail-systemically":                                        {begin: func(st *stage) { st.works(14); st.rejects(6) }, raises: soon, handoffs: 5, end: nothing, recovers: later},
		"handoffs-fail-systemically: all receivers of one agent are silent": {sender: "lead", begin: (*stage).fallSilent, raises: soon, handoffs: 5, end: func(st *stage) { st.advance(70 * time.Minute) }, recovers: later},
		"agent-fails":                                        {agent: "coder", begin: (*stage).ignores, raises: soon, handoffs: 3, end: (*stage).answers, recovers: most{4, 3 * time.Minute}},
		"circuit-open":                                       {agent: "coder", begin: (*stage).ignores, raises: soon, handoffs: 3, end: (*stage).answers, recovers: most{4, 3 * time.Minute}},
		"circuit-open: of one sender":                        {agent: "coder", begin: (*stage).ignoresOne, raises: soon, handoffs: 3, end: (*stage).answers, recovers: most{4, 3 * time.Minute}},
		"agent-fails: by what it never looks at":             {agent: "coder", sender: "lead", begin: (*stage).overlooks, raises: soon, handoffs: 3, end: (*stage).answers, recovers: most{4, 3 * time.Minute}},
		"agent-fails: by lost tasks":                         {agent: "coder", begin: (*stage).dies, raises: soon, handoffs: 3, end: (*stage).answers, recovers: most{4, 3 * time.Minute}},
		"agent-tasks-fail":                                   {agent: "coder", sender: "lead", begin: func(st *stage) { st.fails(3) }, raises: soon, handoffs: 3, end: func(st *stage) { st.works(5) }, recovers: most{4, 3 * time.Minute}},
		"agent-tasks-fail: by every second one that is lost": {agent: "coder", begin: (*stage).losesEverySecond, raises: soon, handoffs: 3, end: nothing, recovers: most{22, 10 * time.Minute}},
		"circuit-open: by lost tasks":                        {agent: "coder", begin: (*stage).dies, raises: soon, handoffs: 3, end: (*stage).answers, recovers: most{4, 3 * time.Minute}},
		"hops-rise":                                          {sender: "lead", begin: (*stage).wanders, raises: most{20, time.Minute}, handoffs: 5, end: func(st *stage) { st.advance(25 * time.Hour) }, recovers: later},
		"context-incomplete":                                 {begin: func(st *stage) { st.refers(5, 9, 1) }, raises: soon, handoffs: 5, end: nothing, recovers: later},
		"context-incomplete: of what one agent forgot, and others handed on": {sender: "lead", begin: (*stage).forgetsMemory, raises: soon, handoffs: 5, end: nothing, recovers: later},
		"context-lost":               {begin: func(st *stage) { st.refers(20, 1, 1) }, raises: soon, handoffs: 5, end: nothing, recovers: later},
		"budgets-unused":             {begin: func(st *stage) { st.packs(client.Pack{}, "little") }, raises: most{20, time.Minute}, handoffs: 5, end: nothing, recovers: later},
		"budgets-full":               {begin: func(st *stage) { st.packs(client.Pack{Tokens: 1000}, "") }, raises: most{20, time.Minute}, handoffs: 5, end: nothing, recovers: later},
		"audit-incomplete":           {disk: true, begin: (*stage).damages, raises: soon, handoffs: 2, end: (*stage).repairs, recovers: most{4, 3 * time.Minute}},
		"views-disagree":             {disk: true, begin: func(st *stage) { st.forgets("DELETE FROM view_count") }, raises: most{8, 15 * time.Second}, end: (*stage).rebuilds, recovers: most{4, 3 * time.Minute}},
		"views-disagree: by tasks":   {disk: true, begin: func(st *stage) { st.forgets("DELETE FROM view_task") }, raises: most{8, 15 * time.Second}, end: (*stage).rebuilds, recovers: most{4, 3 * time.Minute}},
		"views-disagree: by inboxes": {disk: true, begin: func(st *stage) { st.forgets("DELETE FROM view_inbox") }, raises: most{8, 15 * time.Second}, end: (*stage).rebuilds, recovers: most{4, 3 * time.Minute}},
		"views-disagree: by tickets": {disk: true, begin: func(st *stage) { st.forgets("UPDATE view_ticket SET state = 'closed'") }, raises: most{8, 15 * time.Second}, end: (*stage).rebuilds, recovers: most{4, 3 * time.Minute}},
		"views-disagree: by states":  {disk: true, begin: func(st *stage) { st.forgets("UPDATE view_task SET owner = 'eve'") }, raises: most{8, 15 * time.Second}, end: (*stage).rebuilds, recovers: most{4, 3 * time.Minute}},
		"views-disagree: by times":   {disk: true, begin: func(st *stage) { st.forgets("UPDATE view_task SET due = NULL") }, raises: most{8, 15 * time.Second}, end: (*stage).rebuilds, recovers: most{4, 3 * time.Minute}},
		"views-disagree: by foreign items": {disk: true, begin: func(st *stage) {
			st.forgets("INSERT INTO view_inbox SELECT ws, rest, 'eve', sender, ord, id, item FROM view_inbox")
		}, raises: most{20, 15 * time.Second}, end: (*stage).rebuilds, recovers: most{4, 3 * time.Minute}},
		"views-disagree: by agents": {disk: true, begin: func(st *stage) { st.forgets("UPDATE view_agent SET removed = 1") }, raises: most{20, 15 * time.Second}, end: (*stage).rebuilds, recovers: most{4, 3 * time.Minute}},
		"record-differs":            {disk: true, begin: (*stage).forges, raises: most{8, 15 * time.Second}, end: (*stage).forges, recovers: most{4, 3 * time.Minute}},
		"witness-refuses":           {witness: true, begin: func(st *stage) { st.refuses(true) }, raises: most{8, 15 * time.Second}, end: func(st *stage) { st.refuses(false) }, recovers: most{4, 3 * time.Minute}},
		"certificate-old":           {certificate: true, begin: (*stage).spoils, raises: most{8, 15 * time.Second}, end: (*stage).renews, recovers: most{4, 3 * time.Minute}},
		"dead-letters":              {begin: (*stage).parks, raises: most{20, time.Minute}, handoffs: 2, end: (*stage).discards, recovers: most{4, 3 * time.Minute}},
		"inbox-old":                 {agent: "coder", begin: (*stage).leaves, raises: later, handoffs: 2, end: (*stage).fetches, recovers: most{4, 3 * time.Minute}},
		"inbox-old: by a share, until its task ends": {agent: "coder", begin: func(st *stage) { st.coder(); st.lead(); st.shares("lead", "coder") }, raises: later, handoffs: 0, end: (*stage).cancels, recovers: most{4, 3 * time.Minute}},
		"inbox-old: of the operators":                {begin: (*stage).supervises, raises: later, handoffs: 1, end: (*stage).approves, recovers: most{4, 3 * time.Minute}},
		"ticket-old":                                 {begin: (*stage).asks, raises: most{30, time.Hour}, handoffs: 1, tickets: 1, end: (*stage).told, recovers: most{4, 3 * time.Minute}},
		"views-lag":                                  {disk: true, policy: "version: 1\nalerts:\n  views-lag: {threshold: 50}\n", threshold: 50, begin: (*stage).breaks, raises: most{8, time.Minute}, end: (*stage).continues, recovers: most{4, 3 * time.Minute}},
		"figures-lag":                                {policy: "version: 1\nalerts:\n  figures-lag: {threshold: 50}\n", threshold: 50, begin: (*stage).holds, raises: most{13, time.Minute}, end: (*stage).releases, recovers: most{4, 3 * time.Minute}},
	}
}

// spoils replaces the certificate with half of one.
func (st *stage) spoils() {
	st.Helper()
	if err := os.WriteFile(st.config.TLS.Cert, []byte("-----BEGIN CERTIFICATE-----\nMIIB"), 0o600); err != nil {
		st.Fatal(err)
	}
	st.s.certificate.Check()
}

// renews replaces the certificate with a whole one.
func (st *stage) renews() {
	st.Helper()
	st.ca.Renew(certtest.Pair{Cert: st.config.TLS.Cert, Key: st.config.TLS.Key}, "127.0.0.1")
	st.s.certificate.Check()
}

// rejects has handoffs fail: their receivers, of which each gets three, cannot do the work, and there is no other.
func (st *stage) rejects(n int) {
	st.Helper()
	for n := range n {
		name := []string{"coder", "tester"}[n/3%2]
		by := st.as(name, client.AgentSpec{})
		r := st.handsBy(st.turn(n), name, client.CreateInput{}, client.SendInput{})
		if _, err := by.Reject(st.Context(), r.Handoff, client.RejectInput{Reason: "not_capable"}); err != nil {
			st.Fatal(err)
		}
	}
}

// fansOut has one agent give parts of its tasks to two others, which work for it else, and reject those.
func (st *stage) fansOut() {
	st.Helper()
	names := []string{"coder", "tester"}
	st.works(14)
	st.as("tester", client.AgentSpec{})
	for range 3 {
		r, err := st.lead().CreateTask(st.Context(), client.CreateInput{Intent: "work in parts", Send: &client.SendInput{To: names, Kind: client.Broadcast, FanOut: true}})
		if err != nil || len(r.Children) != len(names) {
			st.Fatal(r, err)
		}
		for n, part := range r.Children {
			if _, err := st.agents[names[n]].Reject(st.Context(), part+".h1", client.RejectInput{Reason: "refused"}); err != nil {
				st.Fatal(err)
			}
		}
	}
}

// fallSilent has one agent hand tasks to two others, which do their work, and then are gone.
func (st *stage) fallSilent() {
	st.Helper()
	names := []string{"coder", "tester"}
	for n := range 20 {
		name := names[n%2]
		st.takes(st.as(name, client.AgentSpec{}), st.hands(name, client.CreateInput{}, client.SendInput{}).Handoff)
	}
	for n := range 6 {
		st.hands(names[n%2], client.CreateInput{}, client.SendInput{Retries: new(int)})
	}
	st.advance(11 * time.Minute)
}

// ignores has an agent see the offers of three senders and answer none.
func (st *stage) ignores() {
	st.Helper()
	coder := st.coder()
	for n := range 3 {
		st.ignored("coder", coder, st.as(fmt.Sprint("sender", n), client.AgentSpec{}))
	}
}

// overlooks has an agent that looks at nothing that it is offered.
func (st *stage) overlooks() {
	st.Helper()
	st.coder()
	for range 3 {
		st.hands("coder", client.CreateInput{}, client.SendInput{Retries: new(int), ReturnHome: true})
	}
	st.advance(11 * time.Minute)
}

// ignoresOne has an agent answer none of the offers of one sender, which stops those of that sender alone.
func (st *stage) ignoresOne() {
	st.Helper()
	coder := st.coder()
	for range 3 {
		st.ignored("coder", coder, st.lead())
	}
}

// dies has an agent accept what it is offered, and be silent from then on.
func (st *stage) dies() {
	st.Helper()
	coder := st.coder()
	for range 3 {
		r := st.hands("coder", client.CreateInput{}, client.SendInput{})
		if _, err := coder.Accept(st.Context(), r.Handoff, client.AcceptInput{}); err != nil {
			st.Fatal(err)
		}
		st.advance(31 * time.Minute)
	}
}

// losesEverySecond has an agent complete tasks and lose as many by its silence, in turn: no circuit opens.
func (st *stage) losesEverySecond() {
	st.Helper()
	coder := st.coder()
	for range 3 {
		st.works(1)
		if _, err := coder.Accept(st.Context(), st.hands("coder", client.CreateInput{}, client.SendInput{}).Handoff, client.AcceptInput{}); err != nil {
			st.Fatal(err)
		}
		st.advance(31 * time.Minute)
	}
}

// wanders has tasks of one hop end, and hours later tasks of many hops.
func (st *stage) wanders() {
	st.Helper()
	st.works(8)
	st.advance(2 * time.Hour)
	name := func(hop int) string { return fmt.Sprint("hop", hop) }
	for hop := range 6 {
		st.as(name(hop), client.AgentSpec{})
	}
	for range 5 {
		r := st.hands(name(0), client.CreateInput{}, client.SendInput{})
		for hop := range 6 {
			by := st.as(name(hop), client.AgentSpec{})
			got, err := by.Accept(st.Context(), r.Handoff, client.AcceptInput{})
			if err != nil {
				st.Fatal(err)
			}
			if hop == 5 {
				st.completes(by, got.Receipt)
				break
			}
			if r, err = by.Send(st.Context(), r.Task, client.SendInput{Epoch: got.Epoch, To: []string{name(hop + 1)}}); err != nil {
				st.Fatal(err)
			}
		}
	}
}

// refers has envelopes refer to memory items, of which some do not exist.
func (st *stage) refers(times, there, missing int) {
	st.Helper()
	reader := st.as("reader", client.AgentSpec{ContextWindow: 20_000})
	var content client.Content
	for n := range there {
		item, err := st.lead().Remember(st.Context(), client.RememberInput{Text: fmt.Sprintf("fact %d of round %d", n, st.round), Scope: "workspace"})
		if err != nil {
			st.Fatal(err)
		}
		content.Memory = append(content.Memory, client.MemoryAsk{ID: item.ID})
	}
	for n := range missing {
		content.Memory = append(content.Memory, client.MemoryAsk{ID: fmt.Sprint("mem_none", n)})
	}
	for n := range times {
		st.takes(reader, st.handsBy(st.turn(n), "reader", client.CreateInput{Content: content}, client.SendInput{}).Handoff)
	}
}

// forgetsMemory has one agent forget what its tasks refer to, after the first handoff: those that have them hand them on.
func (st *stage) forgetsMemory() {
	st.Helper()
	names := []string{"second", "third", "reader"}
	for _, name := range names {
		st.as(name, client.AgentSpec{ContextWindow: 20_000})
	}
	for n := range 24 {
		item, err := st.lead().Remember(st.Context(), client.RememberInput{Text: fmt.Sprintf("fact %d of round %d", n, st.round), Scope: "workspace"})
		if err != nil {
			st.Fatal(err)
		}
		by, next := st.agents[names[n%3]], names[(n+1)%3]
		r := st.hands(names[n%3], client.CreateInput{Content: client.Content{Memory: []client.MemoryAsk{{ID: item.ID}}}}, client.SendInput{})
		got, err := by.Accept(st.Context(), r.Handoff, client.AcceptInput{})
		if err == nil {
			_, err = st.lead().Forget(st.Context(), item.ID)
		}
		if err == nil {
			r, err = by.Send(st.Context(), r.Task, client.SendInput{To: []string{next}, Epoch: got.Epoch})
		}
		if err != nil {
			st.Fatal(err)
		}
		st.takes(st.agents[next], r.Handoff)
	}
}

// packs has envelopes packed in the course of two hours; without notes, of more facts than fit.
func (st *stage) packs(how client.Pack, notes string) {
	st.Helper()
	reader := st.as("reader", client.AgentSpec{ContextWindow: 200_000})
	content := client.Content{Notes: notes}
	for n := range 60 { // whole facts never fill the last percent of a budget
		if notes == "" {
			content.Facts = append(content.Facts, client.Point{Text: fmt.Sprintf("fact %d is %s", n, strings.Repeat("one of many that are long, ", 8))})
		}
	}
	for range 11 {
		st.takes(reader, st.hands("reader", client.CreateInput{Content: content}, client.SendInput{Pack: how}).Handoff)
		st.advance(9 * time.Minute)
	}
}

// discards has an operator discard the dead letters.
func (st *stage) discards() {
	st.Helper()
	for _, id := range st.dead() {
		if _, err := st.boss.Discard(st.Context(), id, "nobody can do it"); err != nil {
			st.Fatal(err)
		}
	}
}

// leaves has questions wait in the inbox of an agent that does not fetch it.
func (st *stage) leaves() {
	st.Helper()
	asker := st.as("asker", client.AgentSpec{})
	st.coder()
	for range 2 {
		got, err := asker.Accept(st.Context(), st.hands("asker", client.CreateInput{}, client.SendInput{}).Handoff, client.AcceptInput{})
		if err != nil {
			st.Fatal(err)
		}
		if _, err := asker.Ask(st.Context(), got.Task, client.AskInput{Epoch: got.Epoch, Question: "May I?", To: "coder"}); err != nil {
			st.Fatal(err)
		}
	}
}

// fetches has the agent work off its inbox. That the asker is told of the answers, and does not work on at once, is no reason for an alert.
func (st *stage) fetches() {
	st.Helper()
	box, err := st.coder().Inbox(st.Context(), client.InboxOptions{})
	if err != nil {
		st.Fatal(err)
	}
	for _, item := range box.Items {
		if item.Type != "question" {
			st.takes(st.coder(), item.ID)
			continue
		}
		if _, err := st.coder().Answer(st.Context(), item.ID, client.AnswerInput{Answer: "yes"}); err != nil {
			st.Fatal(err)
		}
	}
	tasks, err := st.boss.Tasks(st.Context(), client.TaskFilter{Owner: "asker", State: "executing"})
	if err != nil {
		st.Fatal(err)
	}
	for _, t := range tasks.Tasks {
		st.completes(st.as("asker", client.AgentSpec{}), client.Receipt{Task: t.ID, Epoch: t.Epoch})
	}
}

// cancels has an operator cancel all tasks.
func (st *stage) cancels() {
	st.Helper()
	tasks, err := st.boss.Tasks(st.Context(), client.TaskFilter{Live: true})
	if err != nil {
		st.Fatal(err)
	}
	for _, t := range tasks.Tasks {
		if _, err := st.boss.Cancel(st.Context(), t.ID, client.CancelInput{}); err != nil {
			st.Fatal(err)
		}
	}
}

// supervises has a handoff wait for the approval of any operator.
func (st *stage) supervises() {
	st.Helper()
	st.coder()
	st.hands("coder", client.CreateInput{}, client.SendInput{Kind: client.Supervised})
}

// approves has an operator approve, and the agent work on.
func (st *stage) approves() {
	st.Helper()
	box, err := st.boss.Inbox(st.Context(), client.InboxOptions{})
	if err != nil || len(box.Items) != 1 {
		st.Fatal(err, box)
	}
	if _, err := st.boss.Approve(st.Context(), box.Items[0].ID, client.ApproveInput{Digest: box.Items[0].Envelope}); err != nil {
		st.Fatal(err)
	}
	st.fetches()
}
