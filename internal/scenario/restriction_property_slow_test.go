//go:build slow || outside

package scenario

import (
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// restricted is a task that goes from agent to agent, and what its last receiver read.
type restricted struct {
	*harness
	t     *rapid.T
	r     taskstore.Receipt
	owner string
	rules []event.Constraint
	last  readable
}

// ways are those in which a task, or a part of it, reaches another agent. Each returns the task that the agent is offered; empty if the call was refused.
var ways = map[string]func(x *restricted, to string, passed []string) string{
	"handoff": func(x *restricted, to string, passed []string) string {
		return x.passes(handoffs.SendInput{To: []string{to}, Permissions: passed}).Task
	},
	"cold handoff": func(x *restricted, to string, passed []string) string {
		return x.passes(handoffs.SendInput{To: []string{to}, Permissions: passed, Kind: event.Cold}).Task
	},
	"delegation": func(x *restricted, to string, passed []string) string {
		sent := x.passes(handoffs.SendInput{To: []string{to}, Permissions: passed, Kind: event.Delegation})
		if len(sent.Children) == 0 {
			return ""
		}
		return sent.Children[0]
	},
	"replay": func(x *restricted, to string, passed []string) string {
		sent := x.passes(lost(handoffs.SendInput{To: []string{to}, Permissions: passed}))
		if sent.Task != "" {
			x.inState(sent.Task, event.Parked)
			x.replay(tasks.ReplayInput{Task: sent.Task, To: []string{to}})
		}
		return sent.Task
	},
	"reassignment": func(x *restricted, to string, _ []string) string {
		x.progress(x.owner, x.r, "half") // without it this would be a loop
		ok(x.harness, x.operator(), func(c caller.Caller) (taskstore.Receipt, error) {
			return x.app.Tasks.Takeover(ctx(x), c, tasks.TakeoverInput{Task: x.r.Task, To: to})
		})
		return x.r.Task
	},
	"recovery": func(x *restricted, _ string, _ []string) string {
		time.Sleep(32 * time.Minute) // its owner shows no life, and is offered it again
		return x.r.Task
	},
}

// passes sends the task on. The receipt is zero if the permissions were refused.
func (x *restricted) passes(in handoffs.SendInput) taskstore.Receipt {
	in.Task, in.Epoch, in.Content = x.r.Task, x.r.Epoch, envelopes.Content{Ask: "go on", Decisions: []envelopes.Point{{Text: "go on"}}}
	got, err := call(x.agent(x.owner), func(c caller.Caller) (taskstore.Receipt, error) { return x.app.Tasks.Send(ctx(x), c, in) })
	if err != nil && refusal.CodeOf(err) != refusal.NotPermitted {
		x.t.Fatal(err)
	}
	return got
}

// constrains tries to change a rule in some way, as its owner. A refusal changes nothing.
func (x *restricted) constrains() {
	k := x.rules[rapid.IntRange(0, len(x.rules)-1).Draw(x.t, "rule")]
	k.Allow = drawSubset(x.t, "allow")
	if rapid.Bool().Draw(x.t, "has a maximum") {
		most := rapid.Float64Range(0, 100).Draw(x.t, "max")
		k.Max = &most
	}
	_ = x.setting(x.agent(x.owner), x.r, k)
}

// accepts checks what an agent reads that accepts a task, against what the last receiver of the task read.
func (x *restricted) accepts(agent, task string) tasks.Accepted {
	item := x.waitFor(agent, func(i view.Item) bool { return i.Task == task && i.Type == view.ItemOffer })
	a := ok(x.harness, x.agent(agent), func(c caller.Caller) (tasks.Accepted, error) {
		return x.app.Tasks.Accept(ctx(x), c, tasks.AcceptInput{Handoff: item.ID, Offer: item.Offer, Render: true})
	})
	doc, prompt := inDocument(packed(x, *a.Content)), inPrompt(a.Content.Prompt)
	if more := doc.noMore(x.last); more != "" {
		x.t.Fatal("in the envelope: " + more)
	}
	if p, d := fmt.Sprintf("%#v %#v", prompt.permissions, prompt.allow), fmt.Sprintf("%#v %#v", doc.permissions, doc.allow); p != d {
		x.t.Fatalf("the prompt says %s, the envelope %s:\n%s", p, d, a.Content.Prompt)
	}
	if b, err := json.Marshal(x.task(task).Permissions); err != nil || string(b) != jsonOf(doc.permissions) {
		x.t.Fatalf("the task has the permissions %s, the envelope %s (%v)", b, jsonOf(doc.permissions), err)
	}
	if task == x.r.Task {
		x.r, x.owner, x.last = a.Receipt, agent, doc
	}
	return a
}

// step changes a rule, or not, and lets the task, or a part of it, reach an agent in one of the ways.
func (x *restricted) step() {
	if rapid.Bool().Draw(x.t, "constrains") {
		x.constrains()
	}
	to := rapid.SampledFrom(slices.DeleteFunc([]string{"ann", "bob", "cyd"}, func(n string) bool { return n == x.owner })).Draw(x.t, "to")
	way := rapid.SampledFrom([]string{"handoff", "handoff", "cold handoff", "delegation", "replay", "reassignment", "recovery"}).Draw(x.t, "way")
	task := ways[way](x, to, drawSubset(x.t, "passed on"))
	if task == "" {
		return
	}
	if way == "recovery" {
		to = x.owner
	}
	a := x.accepts(to, task)
	if task != x.r.Task {
		x.complete(to, a.Receipt, "done")
		x.inState(x.r.Task, event.Executing)
	}
}

func jsonOf(list []string) string {
	b, _ := json.Marshal(list) // a list of texts cannot fail
	return string(b)
}

func drawSubset(t *rapid.T, name string) []string {
	switch rapid.IntRange(0, 3).Draw(t, name+" kind") {
	case 0:
		return nil
	case 1:
		return []string{}
	}
	return rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3, rapid.ID).Draw(t, name)
}

func TestNoReceiverReadsMorePermissionThanBefore(t *testing.T) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue { // the command line does not say it
		if err := flag.Set(f.Name, strconv.Itoa(restrictedTasks)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = flag.Set(f.Name, f.DefValue) })
	}
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd")
		rapid.Check(h, func(t *rapid.T) {
			x := &restricted{harness: h, t: t, owner: "ann"}
			for _, name := range []string{"ann", "bob", "cyd"} {
				h.resetCircuit(name) // what was lost in the tasks before is no matter here
			}
			for _, id := range []string{"k1", "k2"} {
				x.rules = append(x.rules, event.Constraint{ID: id, Kind: event.ConstraintSecurity, Text: "systems", Allow: drawSubset(t, id)})
			}
			x.r = h.create(h.agent("ann"), tasks.CreateInput{
				Intent: "work", Start: true, Permissions: drawSubset(t, "permissions"), Constraints: x.rules,
				Limits: event.Limits{Hops: 50, Handoffs: 50, Visits: 50, Attempts: 50},
			})
			for range rapid.IntRange(1, 4).Draw(t, "steps") {
				x.step()
			}
			ok(h, h.operator(), func(c caller.Caller) (taskstore.Receipt, error) { // else its clocks run on in what follows
				return h.app.Tasks.Cancel(ctx(h), c, tasks.CancelInput{ID: x.r.Task})
			})
		})
	})
}
