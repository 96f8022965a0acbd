package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/roster"
	"github.com/trapezehq/trapeze/internal/view"
)

func (h *house) stuck(by app.Caller, task string) docket.Receipt {
	h.Helper()
	return ok(h, by, func(c app.Caller) (docket.Receipt, error) {
		return h.app.Stuck(ctx(h), c, app.StuckInput{Task: task, Detail: "no answer"})
	})
}

func TestAnOwnerThatIsStuckIsReplacedOnAWord(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead", "backup", "stranger")
		h.register("coder", roster.AgentSpec{Fallbacks: []string{"backup"}})
		r := h.create(h.agent("lead"), app.CreateInput{Intent: "ship it", Start: true})
		h.send(h.agent("lead"), r, app.SendInput{To: []string{"coder"}, Kind: fact.Delegation, Content: app.Content{Ask: "write the code"}})
		a := h.accept("coder", h.wait("coder"))
		h.progress("coder", a.Receipt, "half way")
		for who, want := range map[string]refusal.Code{"stranger": refusal.NotFound, "coder": refusal.Invalid} {
			_, err := call(h.agent(who), func(c app.Caller) (docket.Receipt, error) {
				return h.app.Stuck(ctx(h), c, app.StuckInput{Task: a.Task})
			})
			if refusal.CodeOf(err) != want {
				h.Errorf("%s: %v", who, err)
			}
		}
		h.stuck(h.agent("lead"), a.Task) // who owns the task that this one works for
		if _, err := call(h.agent("coder"), func(c app.Caller) (docket.Receipt, error) {
			return h.app.Heartbeat(ctx(h), c, app.HeartbeatInput{Task: a.Task, Epoch: a.Epoch})
		}); err != nil {
			h.Error(err)
		}
		fresh := h.accept("backup", h.wait("backup"))
		if fresh.Owner != "backup" || !strings.Contains(string(fresh.Content.Envelope), "half way") {
			h.Fatalf("%+v", fresh.Receipt)
		}
		_, err := call(h.agent("coder"), func(c app.Caller) (docket.Receipt, error) {
			return h.app.Complete(ctx(h), c, app.CompleteInput{Task: a.Task, Epoch: a.Epoch})
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

func (h *house) standing(agent string) roster.Agent {
	h.Helper()
	h.settle()
	return ok(h, h.operator(), func(c app.Caller) (roster.Agent, error) { return h.app.Agent(ctx(h), c, agent) })
}

func TestAnOwnerThatReportsNoProgressIsReplacedThoughItLives(t *testing.T) {
	story(t, func(h *house) {
		h.join("backup")
		h.register("coder", roster.AgentSpec{Fallbacks: []string{"backup"}})
		r := h.create(h.agent("coder"), app.CreateInput{
			Intent: "fix", Timeouts: fact.Timeouts{Lease: fact.Duration(time.Minute), Progress: fact.Duration(10 * time.Minute)}, Start: true,
		})
		for range 20 { // alive, and nothing more
			time.Sleep(29 * time.Second)
			_, err := call(h.agent("coder"), func(c app.Caller) (docket.Receipt, error) {
				return h.app.Heartbeat(ctx(h), c, app.HeartbeatInput{Task: r.Task, Epoch: r.Epoch})
			})
			if err != nil {
				h.Fatal(err)
			}
		}
		if got := h.task(r.Task); got.State != fact.Executing {
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
	story(t, func(h *house) {
		h.join("ann", "bob", "backup")
		h.register("coder", roster.AgentSpec{Fallbacks: []string{"backup"}})
		var tasks []string
		for i, by := range []string{"ann", "ann", "bob"} {
			r := h.create(h.agent(by), app.CreateInput{Intent: fmt.Sprint("task ", i), Send: &app.SendInput{To: []string{"coder"}}})
			h.accept("coder", h.wait("coder"))
			tasks = append(tasks, r.Task)
			time.Sleep(time.Second)
		}
		h.settle()
		say := func(by app.Caller) docket.Relief {
			return ok(h, by, func(c app.Caller) (docket.Relief, error) {
				return h.app.StuckAgent(ctx(h), c, app.StuckAgentInput{Agent: "coder"})
			})
		}
		moved := func(r docket.Relief) (ids []string) {
			for _, m := range r.Moved {
				ids = append(ids, m.Task)
			}
			return ids
		}
		if got := moved(say(h.agent("ann"))); !slices.Equal(got, tasks[:2]) {
			h.Errorf("what ann had asked for: %v of %v", got, tasks)
		}
		h.settle()
		if got := moved(say(h.operator())); !slices.Equal(got, tasks[2:]) {
			h.Errorf("what was left: %v", got)
		}
		for range tasks {
			h.accept("backup", h.wait("backup"))
			h.settle()
		}
	})
}

// offered are the ids of the tasks that are offered to an agent.
func (h *house) offered(agent string) (tasks []string) {
	h.Helper()
	h.settle()
	box, err := h.app.Inbox(ctx(h), h.agent(agent), app.InboxInput{Peek: true, Limit: 100})
	if err != nil {
		h.Fatal(err)
	}
	for _, i := range box.Items {
		if i.Type == view.ItemOffer {
			tasks = append(tasks, i.Task)
		}
	}
	return tasks
}

func TestWhoHasTooMuchToDoIsRelievedByItsPeersEvenly(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead")
		can := []string{"lint"}
		h.register("full", roster.AgentSpec{Capabilities: can, MaxTasks: 2})
		h.register("one", roster.AgentSpec{Capabilities: can, MaxTasks: 3})
		h.register("two", roster.AgentSpec{Capabilities: can, MaxTasks: 3})
		h.register("other", roster.AgentSpec{Capabilities: []string{"draw"}})
		for i := range 6 {
			h.create(h.agent("lead"), app.CreateInput{Intent: fmt.Sprint("lint ", i), Send: &app.SendInput{To: []string{"full"}}})
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
		tr := ok(h, h.operator(), func(c app.Caller) (*view.Trail, error) { return h.app.Trail(ctx(h), c, moved) })
		if !slices.ContainsFunc(tr.Entries, func(e view.AuditEntry) bool { return e.Event == "offer-shed" }) {
			h.Errorf("the trail says nothing of it: %+v", tr.Entries)
		}
	})
}

func TestAnOfferIsShedToWhoCanReadIt(t *testing.T) {
	story(t, func(h *house) {
		can := []string{"lint"}
		h.join("lead")
		h.register("full", roster.AgentSpec{Capabilities: can})
		for _, name := range []string{"tiny1", "tiny2", "tiny3"} {
			h.register(name, roster.AgentSpec{Capabilities: can, ContextWindow: 500})
		}
		long := strings.Repeat("fix the long list of faults, ", 130)
		task := h.create(h.agent("lead"), app.CreateInput{Intent: long, Send: &app.SendInput{To: []string{"full"}}}).Task
		h.settle()
		shed := func() docket.Relief {
			return ok(h, h.agent("full"), func(c app.Caller) (docket.Relief, error) {
				return h.app.ShedOffers(ctx(h), c, app.ShedInput{Agent: "full"})
			})
		}
		if r := shed(); len(r.Moved) != 0 || len(r.Kept) != 1 || !strings.Contains(r.Kept[0].Why, "tokens") {
			h.Errorf("%+v", r)
		}
		h.register("roomy", roster.AgentSpec{Capabilities: can, MaxTasks: 2, ContextWindow: 100_000}) // and has more to do than those
		h.create(h.agent("lead"), app.CreateInput{Intent: "lint", Send: &app.SendInput{To: []string{"roomy"}}})
		h.settle()
		if r := shed(); len(r.Moved) != 1 || r.Moved[0].Task != task || !slices.Equal(r.Moved[0].To, []string{"roomy"}) {
			h.Errorf("%+v", r)
		}
	})
}

func TestAnAgentShedsTheLowestPriorityFirst(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead", "stranger")
		h.register("busy", roster.AgentSpec{Fallbacks: []string{"idle"}})
		h.register("idle", roster.AgentSpec{MaxTasks: 2})
		ids := map[fact.Priority]string{}
		for _, p := range []fact.Priority{fact.Urgent, fact.Low, fact.High, fact.Normal} {
			ids[p] = h.create(h.agent("lead"), app.CreateInput{Intent: string(p), Priority: p, Send: &app.SendInput{To: []string{"busy"}}}).Task
		}
		h.settle()
		shed := func(by app.Caller, keep int) (docket.Relief, error) {
			return call(by, func(c app.Caller) (docket.Relief, error) {
				return h.app.ShedOffers(ctx(h), c, app.ShedInput{Agent: "busy", Keep: keep})
			})
		}
		if _, err := shed(h.agent("stranger"), 0); refusal.CodeOf(err) != refusal.NotPermitted {
			h.Error(err)
		}
		r, err := shed(h.agent("busy"), 1)
		if err != nil || len(r.Moved) != 2 || r.Moved[0].Task != ids[fact.Low] || r.Moved[1].Task != ids[fact.Normal] || len(r.Kept) != 1 {
			h.Fatalf("%+v, %v", r, err) // idle has room for two
		}
		if got := h.offered("busy"); !slices.Equal(got, []string{ids[fact.Urgent], ids[fact.High]}) {
			h.Errorf("left: %v", got)
		}
		if got := h.offered("idle"); !slices.Contains(got, ids[fact.Low]) || !slices.Contains(got, ids[fact.Normal]) {
			h.Errorf("moved: %v", got)
		}
	})
}
