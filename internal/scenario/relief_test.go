package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
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
