package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func (h *harness) stuck(by caller.Caller, task string) taskstore.Receipt {
	h.Helper()
	return ok(h, by, func(c caller.Caller) (taskstore.Receipt, error) {
		return h.app.Tasks.Stuck(ctx(h), c, tasks.StuckInput{Task: task, Detail: "no answer"})
	})
}

func TestAnOwnerThatIsReportedStuckIsReplaced(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "backup", "stranger")
		h.register("coder", agents.AgentSpec{Fallbacks: []string{"backup"}})
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "ship it", Start: true})
		h.send(h.agent("lead"), r, handoffs.SendInput{To: []string{"coder"}, Kind: event.Delegation, Content: envelopes.Content{Ask: "write the code"}})
		a := h.accept("coder", h.wait("coder"))
		h.progress("coder", a.Receipt, "half way")
		for who, want := range map[string]refusal.Code{"stranger": refusal.NotFound, "coder": refusal.Invalid} {
			_, err := call(h.agent(who), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Stuck(ctx(h), c, tasks.StuckInput{Task: a.Task})
			})
			if refusal.CodeOf(err) != want {
				h.Errorf("%s: %v", who, err)
			}
		}
		h.stuck(h.agent("lead"), a.Task) // who owns the task that this one works for
		if _, err := call(h.agent("coder"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Heartbeat(ctx(h), c, tasks.HeartbeatInput{Task: a.Task, Epoch: a.Epoch})
		}); err != nil {
			h.Error(err)
		}
		fresh := h.accept("backup", h.wait("backup"))
		if fresh.Owner != "backup" || !strings.Contains(string(fresh.Content.Envelope), "half way") {
			h.Fatalf("%+v", fresh.Receipt)
		}
		_, err := call(h.agent("coder"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Complete(ctx(h), c, tasks.CompleteInput{Task: a.Task, Epoch: a.Epoch})
		})
		if err == nil {
			h.Error("the old owner finished a task that it had lost")
		}
		h.complete("backup", fresh.Receipt, "done")
		if s := h.standing("coder"); s.Circuit.Failures > 0 {
			h.Errorf("what somebody said counts as a failure: %+v", s.Circuit)
		}
	})
}

func (h *harness) standing(agent string) agents.Agent {
	h.Helper()
	h.settle()
	return ok(h, h.operator(), func(c caller.Caller) (agents.Agent, error) { return h.app.Agents.Show(ctx(h), c, agent) })
}

func TestAnOwnerThatReportsNoProgressIsReplacedThoughItLives(t *testing.T) {
	story(t, func(h *harness) {
		h.join("backup")
		h.register("coder", agents.AgentSpec{Fallbacks: []string{"backup"}})
		r := h.create(h.agent("coder"), tasks.CreateInput{
			Intent: "fix", Timeouts: event.Timeouts{Lease: event.Duration(time.Minute), Progress: event.Duration(10 * time.Minute)}, Start: true,
		})
		for range 20 { // alive, and nothing more
			time.Sleep(29 * time.Second)
			_, err := call(h.agent("coder"), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Heartbeat(ctx(h), c, tasks.HeartbeatInput{Task: r.Task, Epoch: r.Epoch})
			})
			if err != nil {
				h.Fatal(err)
			}
		}
		if got := h.task(r.Task); got.State != event.Executing {
			h.Fatalf("too early: %s", got.State)
		}
		a := h.accept("backup", h.wait("backup"))
		if a.Owner != "backup" {
			h.Fatalf("%+v", a.Receipt)
		}
		s := h.standing("coder")
		for range 100 { // what the record says of it is heard a little later
			if s.Circuit.Failures > 0 {
				break
			}
			time.Sleep(100 * time.Millisecond)
			s = h.standing("coder")
		}
		if s.Circuit.Failures != 1 {
			h.Errorf("the clock counts as a failure, once: %+v", s.Circuit)
		}
	})
}

func TestAllThatAStuckAgentHoldsIsOfferedToOthers(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "backup")
		h.register("coder", agents.AgentSpec{Fallbacks: []string{"backup"}})
		var tasksNames []string
		for i, by := range []string{"ann", "ann", "bob"} {
			r := h.create(h.agent(by), tasks.CreateInput{Intent: fmt.Sprint("task ", i), Send: &handoffs.SendInput{To: []string{"coder"}}})
			h.accept("coder", h.wait("coder"))
			tasksNames = append(tasksNames, r.Task)
			time.Sleep(time.Second)
		}
		h.settle()
		say := func(by caller.Caller) taskstore.Relief {
			return ok(h, by, func(c caller.Caller) (taskstore.Relief, error) {
				return h.app.Tasks.StuckAgent(ctx(h), c, tasks.StuckAgentInput{Agent: "coder"})
			})
		}
		moved := func(r taskstore.Relief) (ids []string) {
			for _, m := range r.Moved {
				ids = append(ids, m.Task)
			}
			return ids
		}
		if got := moved(say(h.agent("ann"))); !slices.Equal(got, tasksNames[:2]) {
			h.Errorf("what ann had asked for: %v of %v", got, tasksNames)
		}
		h.settle()
		if got := moved(say(h.operator())); !slices.Equal(got, tasksNames[2:]) {
			h.Errorf("what was left: %v", got)
		}
		for range tasksNames {
			h.accept("backup", h.wait("backup"))
			h.settle()
		}
	})
}

// offered are the ids of the tasks that are offered to an agent.
func (h *harness) offered(agent string) (tasksNames []string) {
	h.Helper()
	h.settle()
	box, err := call(h.agent(agent), func(c caller.Caller) (view.Inbox, error) {
		return h.app.Tasks.Inbox(ctx(h), c, tasks.InboxInput{Peek: true, Limit: 100})
	})
	if err != nil {
		h.Fatal(err)
	}
	for _, i := range box.Items {
		if i.Type == view.ItemOffer {
			tasksNames = append(tasksNames, i.Task)
		}
	}
	return tasksNames
}

func TestAnOverloadedAgentIsRelievedByItsPeersEvenly(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead")
		can := []string{"lint"}
		h.register("full", agents.AgentSpec{Capabilities: can, MaxTasks: 2})
		h.register("one", agents.AgentSpec{Capabilities: can, MaxTasks: 3})
		h.register("two", agents.AgentSpec{Capabilities: can, MaxTasks: 3})
		h.register("other", agents.AgentSpec{Capabilities: []string{"draw"}})
		for i := range 6 {
			h.create(h.agent("lead"), tasks.CreateInput{Intent: fmt.Sprint("lint ", i), Send: &handoffs.SendInput{To: []string{"full"}}})
			time.Sleep(time.Second)
			h.settle()
		}
		got := map[string]int{}
		for _, a := range []string{"full", "one", "two", "other"} {
			got[a] = len(h.offered(a))
		}
		if want := map[string]int{"full": 2, "one": 2, "two": 2, "other": 0}; fmt.Sprint(got) != fmt.Sprint(want) {
			h.Errorf("%v, want %v", got, want)
		}
		moved := h.offered("one")[0]
		tr := ok(h, h.operator(), func(c caller.Caller) (*view.Trail, error) { return h.app.History.Trail(ctx(h), c, moved) })
		if !slices.ContainsFunc(tr.Entries, func(e view.AuditEntry) bool { return e.Event == "offer-shed" }) {
			h.Errorf("the trail says nothing of it: %+v", tr.Entries)
		}
	})
}

func TestAnOfferIsShedToAnAgentThatCanReadIt(t *testing.T) {
	story(t, func(h *harness) {
		can := []string{"lint"}
		h.join("lead")
		h.register("full", agents.AgentSpec{Capabilities: can})
		for _, name := range []string{"tiny1", "tiny2", "tiny3"} {
			h.register(name, agents.AgentSpec{Capabilities: can, ContextWindow: 500})
		}
		long := strings.Repeat("fix the long list of faults, ", 130)
		task := h.create(h.agent("lead"), tasks.CreateInput{Intent: long, Send: &handoffs.SendInput{To: []string{"full"}}}).Task
		h.settle()
		shed := func() taskstore.Relief {
			return ok(h, h.agent("full"), func(c caller.Caller) (taskstore.Relief, error) {
				return h.app.Tasks.ShedOffers(ctx(h), c, tasks.ShedInput{Agent: "full"})
			})
		}
		if r := shed(); len(r.Moved) != 0 || len(r.Kept) != 1 || !strings.Contains(r.Kept[0].Why, "tokens") {
			h.Errorf("%+v", r)
		}
		h.register("roomy", agents.AgentSpec{Capabilities: can, MaxTasks: 2, ContextWindow: 100_000}) // and has more to do than those
		h.create(h.agent("lead"), tasks.CreateInput{Intent: "lint", Send: &handoffs.SendInput{To: []string{"roomy"}}})
		h.settle()
		if r := shed(); len(r.Moved) != 1 || r.Moved[0].Task != task || !slices.Equal(r.Moved[0].To, []string{"roomy"}) {
			h.Errorf("%+v", r)
		}
	})
}

func TestAnAgentShedsTheLowestPriorityFirst(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "stranger")
		h.register("busy", agents.AgentSpec{Fallbacks: []string{"idle"}})
		h.register("idle", agents.AgentSpec{MaxTasks: 2})
		ids := map[event.Priority]string{}
		for _, p := range []event.Priority{event.Urgent, event.Low, event.High, event.Normal} {
			ids[p] = h.create(h.agent("lead"), tasks.CreateInput{Intent: string(p), Priority: p, Send: &handoffs.SendInput{To: []string{"busy"}}}).Task
		}
		h.settle()
		calls := 0
		shed := func(by caller.Caller, keep int) (taskstore.Relief, error) {
			calls = 0
			return call(by, func(c caller.Caller) (taskstore.Relief, error) {
				calls++
				return h.app.Tasks.ShedOffers(ctx(h), c, tasks.ShedInput{Agent: "busy", Keep: keep})
			})
		}
		if _, err := shed(h.agent("stranger"), 0); refusal.CodeOf(err) != refusal.NotPermitted {
			h.Error(err)
		}
		r, err := shed(h.agent("busy"), 1)
		one := calls == 1 // else the call before, whose outcome was unknown, has moved some
		if err != nil || one && (len(r.Moved) != 2 || r.Moved[0].Task != ids[event.Low] || r.Moved[1].Task != ids[event.Normal] || len(r.Kept) != 1) {
			h.Fatalf("%+v, %v", r, err) // idle has room for two
		}
		if got := h.offered("busy"); !slices.Equal(got, []string{ids[event.Urgent], ids[event.High]}) {
			h.Errorf("left: %v", got)
		}
		if got := h.offered("idle"); !slices.Contains(got, ids[event.Low]) || !slices.Contains(got, ids[event.Normal]) {
			h.Errorf("moved: %v", got)
		}
	})
}
