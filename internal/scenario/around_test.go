package scenario

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tokens"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// fail makes an agent leave an offer unanswered until the task is parked.
func (h *house) fail(from, deaf string) {
	h.Helper()
	none := 0
	r := h.create(h.agent(from), tasks.CreateInput{Intent: "anybody?", Send: &handoffs.SendInput{To: []string{deaf}, Retries: &none}})
	h.waitFor(deaf, func(i view.Item) bool { return i.Task == r.Task })
	h.inState(r.Task, event.Parked)
}

// circuit waits for an agent's circuit to be in a state.
func (h *house) circuit(name string, want agent.Phase) {
	h.Helper()
	for range 100 {
		a, err := h.app.Agents.Show(ctx(h), h.operator(), name)
		if err != nil {
			h.Fatal(err)
		}
		if a.Circuit.State == want {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	h.Fatalf("the circuit of %s never came to be %s", name, want)
}

func TestABreakerOpensRoutesAroundHalfOpensAndCloses(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead", "backup")
		h.register("flaky", agents.AgentSpec{Fallbacks: []string{"backup"}})
		for range 3 {
			none := 0
			r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "try", Send: &handoffs.SendInput{To: []string{"flaky"}, Retries: &none}})
			h.waitFor("flaky", func(i view.Item) bool { return i.Task == r.Task })
			h.complete("backup", h.accept("backup", h.waitFor("backup", func(i view.Item) bool { return i.Task == r.Task })).Receipt, "mine")
		}
		h.circuit("flaky", agent.Open)
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "around", Send: &handoffs.SendInput{To: []string{"flaky"}}})
		if len(r.To) != 1 || r.To[0] != "backup" {
			h.Fatalf("routed to %v", r.To)
		}
		time.Sleep(61 * time.Second)
		r = h.create(h.agent("lead"), tasks.CreateInput{Intent: "probe", Send: &handoffs.SendInput{To: []string{"flaky"}}})
		if len(r.To) != 1 || r.To[0] != "flaky" {
			h.Fatalf("the probe went to %v", r.To)
		}
		other := h.create(h.agent("lead"), tasks.CreateInput{Intent: "not the probe", Send: &handoffs.SendInput{To: []string{"flaky"}}})
		if other.To[0] != "backup" {
			h.Fatalf("a second handoff went to %v while the probe was out", other.To)
		}
		h.accept("flaky", h.waitFor("flaky", func(i view.Item) bool { return i.Task == r.Task }))
		h.circuit("flaky", agent.Closed)
	})
}

// reopen closes the embedded ledger and everything on it, and opens it again.
func reopen(t *testing.T, dir string) (*house, func()) {
	t.Helper()
	var log *sqlitelog.Log
	var err error
	h := &house{TB: t}
	if log, h.views, err = sqlview.OpenEmbedded(context.Background(), filepath.Join(dir, "trapeze.db"), sqlitelog.Options{}); err != nil {
		t.Fatal(err)
	}
	h.ledger = log
	if h.app, err = usecase.New(log, h.views.Store(), usecase.Options{Now: h.now}); err != nil {
		t.Fatal(err)
	}
	h.courier()
	return h, h.stop
}

func TestABreakerOpensRoutesAroundHalfOpensAndClosesAcrossRestarts(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h, stop := reopen(t, dir)
		restart := func() {
			stop()
			h, stop = reopen(t, dir)
		}
		defer func() { stop() }()
		sent := func(intent string) taskstore.Receipt {
			return h.create(h.agent("lead"), tasks.CreateInput{Intent: intent, Send: &handoffs.SendInput{To: []string{"flaky"}}})
		}
		h.join("lead", "flaky", "backup")
		for range 3 {
			h.fail("lead", "flaky")
		}
		h.circuit("flaky", agent.Open)
		restart()
		_, err := h.app.Tasks.Create(ctx(h), h.agent("lead"), tasks.CreateInput{Intent: "again", Send: &handoffs.SendInput{To: []string{"flaky"}}})
		if refusal.CodeOf(err) != refusal.CircuitOpen {
			t.Errorf("after the restart: %v", err)
		}
		h.register("flaky", agents.AgentSpec{Fallbacks: []string{"backup"}})
		if r := sent("around"); len(r.To) != 1 || r.To[0] != "backup" {
			t.Errorf("routed to %v", r.To)
		}
		restart()
		time.Sleep(61 * time.Second)
		h.circuit("flaky", agent.HalfOpen)
		probe := sent("probe")
		restart()
		if r := sent("not the probe"); probe.To[0] != "flaky" || r.To[0] != "backup" {
			t.Errorf("the probe went to %v, another to %v", probe.To, r.To)
		}
		h.accept("flaky", h.waitFor("flaky", func(i view.Item) bool { return i.Task == probe.Task }))
		h.circuit("flaky", agent.Closed)
		restart()
		if r := sent("as ever"); r.To[0] != "flaky" {
			t.Errorf("with its circuit closed it went to %v", r.To)
		}
	})
}

func TestClocksGoOnAfterARestart(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h, stop := reopen(t, dir)
		h.join("lead", "coder", "backup")
		h.register("coder", agents.AgentSpec{Fallbacks: []string{"backup"}})
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "long", Send: &handoffs.SendInput{To: []string{"coder"}}})
		stop()
		time.Sleep(time.Hour)
		h, stop = reopen(t, dir)
		defer stop()
		if item := h.wait("backup"); item.Task != r.Task {
			t.Errorf("backup got %+v", item)
		}
	})
}

func TestARepeatedCallHasTheFirstOutcomeEvenAfterARestart(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h, stop := reopen(t, dir)
		h.join("ann", "bob")
		once := h.agent("ann").WithKey("k1")
		in := tasks.CreateInput{Intent: "once", Send: &handoffs.SendInput{To: []string{"bob"}}}
		first, err := h.app.Tasks.Create(ctx(h), once, in)
		if err != nil {
			t.Fatal(err)
		}
		accept := tasks.AcceptInput{Handoff: first.Handoff}
		taken, err := h.app.Tasks.Accept(ctx(h), h.agent("bob").WithKey("k1"), accept)
		if err != nil {
			t.Fatal(err)
		}
		stop()
		h, stop = reopen(t, dir)
		defer stop()
		again, err := h.app.Tasks.Create(ctx(h), once, in)
		if err != nil || !again.Repeat || again.Position != first.Position || again.State != event.HandingOff {
			t.Errorf("the repeated creation: %+v, %v", again, err)
		}
		retaken, err := h.app.Tasks.Accept(ctx(h), h.agent("bob").WithKey("k1"), accept)
		if err != nil || !retaken.Repeat || retaken.Epoch != taken.Epoch || retaken.Content == nil {
			t.Errorf("the repeated acceptance: %+v, %v", retaken, err)
		}
		in.Intent = "twice"
		if _, err := h.app.Tasks.Create(ctx(h), once, in); refusal.CodeOf(err) != refusal.Conflict {
			t.Errorf("another body under the same key: %v", err)
		}
	})
}

func TestAnAgentSeesItsOwnTasksAndNobodyElses(t *testing.T) {
	story(t, func(h *house) {
		h.join("ann", "bob", "eve")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "private", Start: true})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}})
		h.wait("bob")
		for name, want := range map[string]bool{"ann": true, "bob": true, "eve": false} {
			_, err := call(h.agent(name), func(c caller.Caller) (taskstore.Task, error) { return h.app.Tasks.Show(ctx(h), c, r.Task) })
			if (err == nil) != want || err != nil && refusal.CodeOf(err) != refusal.NotFound {
				h.Errorf("%s reads the task: %v", name, err)
			}
			list, err := h.app.Tasks.List(ctx(h), h.agent(name), tasks.TasksInput{})
			if err != nil || (len(list) == 1) != want {
				h.Errorf("%s lists %d tasks, %v", name, len(list), err)
			}
		}
		_, err := call(h.agent("eve"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Cancel(ctx(h), c, tasks.CancelInput{ID: r.Task})
		})
		if refusal.CodeOf(err) != refusal.NotFound {
			h.Errorf("eve cancels: %v", err)
		}
		_, err = call(h.as(identity.Auditor, "kim"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Cancel(ctx(h), c, tasks.CancelInput{ID: r.Task})
		})
		if refusal.CodeOf(err) != refusal.NotPermitted {
			h.Errorf("an auditor cancels: %v", err)
		}
	})
}

func TestAnotherWorkspaceSeesNothing(t *testing.T) {
	story(t, func(h *house) {
		h.join("ann", "bob")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "ours", Send: &handoffs.SendInput{To: []string{"bob"}}})
		admin := h.as(identity.Admin, "root")
		made := ok(h, admin, func(c caller.Caller) (tokens.Token, error) {
			return h.app.Tokens.Create(ctx(h), c, tokens.TokenInput{Role: identity.Admin, Name: "lea", Workspace: "other"})
		})
		foreign, err := h.app.Tokens.Authenticate(ctx(h), made.Text)
		if err != nil || foreign.Workspace != "other" {
			h.Fatalf("the token of another workspace speaks for %+v, %v", foreign, err)
		}
		if _, err := h.app.Tasks.Show(ctx(h), foreign, r.Task); refusal.CodeOf(err) != refusal.NotFound {
			h.Errorf("another workspace reads the task: %v", err)
		}
		h.settle()
		list, err := h.app.Tasks.List(ctx(h), foreign, tasks.TasksInput{})
		agentsList, err2 := h.app.Agents.List(ctx(h), foreign)
		theirTokens, err3 := h.app.Tokens.List(ctx(h), foreign)
		if err != nil || err2 != nil || err3 != nil || len(list)+len(agentsList) > 0 || len(theirTokens) != 1 {
			h.Errorf("another workspace lists %d tasks, %d agents, %d tokens; %v, %v, %v", len(list), len(agentsList), len(theirTokens), err, err2, err3)
		}
		_, err = call(foreign, func(c caller.Caller) (tokens.Token, error) {
			return h.app.Tokens.Create(ctx(h), c, tokens.TokenInput{Role: identity.Admin, Name: "lea", Workspace: identity.DefaultWorkspace})
		})
		if refusal.CodeOf(err) != refusal.NotPermitted {
			h.Errorf("another workspace made a token for ours: %v", err)
		}
		register := func(c caller.Caller) (agents.Agent, error) {
			return h.app.Agents.Register(ctx(h), c, agents.RegisterInput{Name: "bob"})
		}
		theirs := ok(h, foreign, register)
		if ours := ok(h, h.operator(), func(c caller.Caller) (agents.Agent, error) { return h.app.Agents.Show(ctx(h), c, "bob") }); ours.Position == theirs.Position {
			h.Error("two workspaces share an agent")
		}
	})
}

func TestReadsExportsAndRefusalsAreOnRecord(t *testing.T) {
	story(t, func(h *house) {
		h.join("ann", "eve")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "secret", Start: true})
		h.task(r.Task)
		for range 100 {
			if _, err := h.app.Tasks.Show(ctx(h), h.agent("eve"), r.Task); err == nil {
				h.Fatal("eve read the task")
			}
		}
		found := map[string]int{}
		last, err := h.ledger.Last(ctx(h))
		if err != nil {
			h.Fatal(err)
		}
		for after := ledger.Position(0); after < last; {
			entries, err := h.ledger.Read(ctx(h), after, 100)
			if err != nil {
				h.Fatal(err)
			}
			for _, e := range entries {
				after = e.Position
				for _, ev := range e.Events {
					found[ev.Name+" by "+e.Actor.Principal]++
				}
			}
			if len(entries) == 0 {
				time.Sleep(10 * time.Millisecond)
			}
		}
		if found["content-read by operator/ann"] == 0 {
			h.Errorf("the operator's read is not on record: %v", found)
		}
		if n := found["attempt-refused by agent/eve"]; n < 10 || n > 40 {
			h.Errorf("%d of 100 refusals on record: the rate limit lets the first through and counts the rest", n)
		}
	})
}

func TestAClockThatJumpsDoesNoHarm(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(jump.String(), func(t *testing.T) {
			story(t, func(h *house) {
				h.join("ann", "backup", "cyd")
				h.register("bob", agents.AgentSpec{Fallbacks: []string{"backup"}})
				r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "steady", Start: true})
				h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}})
				work := h.accept("bob", h.wait("bob"))
				other := h.create(h.agent("ann"), tasks.CreateInput{Intent: "in flight", Send: &handoffs.SendInput{To: []string{"cyd"}}})
				h.skew.Store(int64(jump))
				time.Sleep(5 * time.Second)
				h.progress("bob", work.Receipt, "still here")
				now := h.task(r.Task)
				if now.Owner != "bob" || now.Epoch != work.Epoch || now.State != event.Executing {
					h.Fatalf("after the jump: %s owned by %s with epoch %d", now.State, now.Owner, now.Epoch)
				}
				h.skew.Store(0)
				time.Sleep(5 * time.Second)
				h.complete("bob", work.Receipt, "done")
				if s := h.task(other.Task).State; s != event.HandingOff && s != event.Parked {
					h.Errorf("the handoff in flight ended as %s", s)
				}
			})
		})
	}
}

func TestADrainedAgentDoesNotPutItselfBackOnDuty(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead", "backup")
		h.register("bob", agents.AgentSpec{Fallbacks: []string{"backup"}, PresenceTTL: event.Duration(30 * time.Second)})
		say := func(by caller.Caller, r agent.Readiness) (agents.Agent, error) {
			return call(by, func(c caller.Caller) (agents.Agent, error) {
				return h.app.Agents.SetReadiness(ctx(h), c, agents.ReadinessInput{Name: "bob", Readiness: r})
			})
		}
		if a, err := say(h.operator(), agent.Draining); err != nil || !a.OffDuty {
			h.Fatalf("%+v, %v", a, err)
		}
		no(h, h.agent("bob"), refusal.Conflict, func(c caller.Caller) (agents.Agent, error) {
			return h.app.Agents.SetReadiness(ctx(h), c, agents.ReadinessInput{Name: "bob", Readiness: agent.Ready})
		})
		for range 4 { // its heartbeats still count
			time.Sleep(20 * time.Second)
			if _, err := call(h.agent("bob"), func(c caller.Caller) (struct{}, error) { return struct{}{}, h.app.Agents.Beat(ctx(h), c) }); err != nil {
				h.Fatal(err)
			}
		}
		a, err := h.app.Agents.Show(ctx(h), h.operator(), "bob")
		if err != nil || a.Readiness != agent.Draining {
			h.Fatalf("after its heartbeats: %+v, %v", a, err)
		}
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "not for bob", Send: &handoffs.SendInput{To: []string{"bob"}}})
		if len(r.To) != 1 || r.To[0] != "backup" {
			h.Errorf("a drained agent was passed over for %v", r.To)
		}
		if a, err := say(h.operator(), agent.Ready); err != nil || a.OffDuty || a.Readiness != agent.Ready {
			h.Fatalf("%+v, %v", a, err)
		}
		if _, err := say(h.agent("bob"), agent.Ready); err != nil {
			h.Error(err)
		}
	})
}
