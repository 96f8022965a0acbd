package scenario

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

const policyRules = `version: 1
rules:
- {name: money, when: {keywords: [invoice], confidence_below: 0.5}, then: {to: {capability: billing}}}
- {name: parts, when: {tags: [split]}, then: {to: {agent: bill}, kind: delegation}}
- {name: climb, when: {tags: [hard]}, then: {to: {chain: up}}}
- {name: people, when: {tags: [person]}, then: {to: {human: operators}}}
- {name: watched, when: {cel: "task.priority == 'urgent'"}, then: {to: {agent: bill}, supervised_by: lead}}
- {name: stay, when: {from: [lead]}, then: keep}
chains:
  up: [{agent: lead}, {human: operators}]
fallbacks: {lead: [bill]}
`

// adopt makes a text the policy file and brings it into force.
func (h *harness) adopt(text string) policies.PolicyInForce {
	h.Helper()
	h.policy.Store(&text)
	return ok(h, h.operator(), func(c caller.Caller) (policies.PolicyInForce, error) { return h.app.Policies.Reload(ctx(h), c) })
}

// events returns all recorded events of a task.
func (h *harness) events(task string) (list []event.Event) {
	h.Helper()
	codec := ledger.NewCodec(event.Events...)
	entries, err := h.ledger.Stream(ctx(h), taskstore.StreamOf(identity.DefaultWorkspace, task), 0, 500)
	if err != nil {
		h.Fatal(err)
	}
	for _, entry := range entries {
		events, err := codec.DecodeAll(entry.Events)
		if err != nil {
			h.Fatal(err)
		}
		list = append(list, events...)
	}
	return list
}

// decided returns the recorded decision of the newest handoff or spawn of a task.
func (h *harness) decided(task string) *event.Decision {
	h.Helper()
	var last *event.Decision
	for _, e := range h.events(task) {
		switch e := e.(type) {
		case event.HandoffRequested:
			last = e.Decision
		case event.Spawned:
			last = e.Decision
		}
	}
	return last
}

func TestThePolicyDecidesWhereATaskGoesAndTheRecordSaysWhy(t *testing.T) {
	for _, kind := range ledgers {
		t.Run(kind, func(t *testing.T) {
			h := open(t, kind)
			defer h.stop()
			h.register("bill", agents.AgentSpec{Capabilities: []string{"billing"}})
			h.join("lead", "router")
			h.adopt(policyRules)
			auto := func() *handoffs.SendInput { return &handoffs.SendInput{To: []string{routing.Auto}} }
			unsure := 0.2
			for _, c := range []struct {
				rule  string
				in    tasks.CreateInput
				stage event.Stage
				to    event.Receiver
			}{
				{"money", tasks.CreateInput{Intent: "pay the invoice", Content: envelopes.Content{Confidence: &unsure}}, event.Offered, event.Receiver{Capability: "billing"}},
				{"climb", tasks.CreateInput{Intent: "x", Tags: []string{"hard"}}, event.Offered, event.Receiver{Chain: "up"}},
				{"watched", tasks.CreateInput{Intent: "x", Priority: event.Urgent}, event.AwaitingApproval, event.Receiver{Agent: "bill"}},
				{"people", tasks.CreateInput{Intent: "x", Tags: []string{"person"}}, "", event.Receiver{Desk: "operators"}},
				{"parts", tasks.CreateInput{Intent: "x", Tags: []string{"split"}}, "", event.Receiver{Agent: "bill"}},
			} {
				c.in.Send = auto()
				r := h.create(h.agent("router"), c.in)
				if c.stage != "" && r.Stage != c.stage {
					t.Errorf("%s: %+v", c.rule, r)
				}
				d := h.decided(r.Task)
				if d == nil || d.Rule != c.rule || d.To != c.to || d.Action != event.ActionHandOff || len(d.Weighed) == 0 || d.Policy == "" {
					t.Errorf("%s: decided %+v", c.rule, d)
				}
				if c.rule == "parts" {
					read := func(c caller.Caller) (taskstore.Task, error) { return h.app.Tasks.Show(ctx(h), c, r.Children[0]) }
					child, err := call(h.operator(), read)
					for ; refusal.CodeOf(err) == refusal.NotFound; child, err = call(h.operator(), read) { // it is made from the record
						if ctx(h).Err() != nil {
							t.Fatal(err)
						}
					}
					if err != nil || !slices.Equal(child.Tags, []string{"split"}) {
						t.Errorf("the child has the tags %v, %v", child.Tags, err)
					}
				}
			}
			for _, by := range []string{"lead", "router"} { // a rule that keeps, and no rule at all
				r := h.create(h.agent(by), tasks.CreateInput{Intent: "x", Send: auto()})
				if r.State != event.Pending || r.Handoff != "" || h.decided(r.Task) != nil {
					t.Errorf("%s: %+v", by, r)
				}
				dry := ok(h, h.agent(by), func(c caller.Caller) (policies.Routed, error) {
					return h.app.Policies.Route(ctx(h), c, policies.RouteInput{Task: r.Task})
				})
				if want := map[string]string{"lead": "stay", "router": ""}[by]; dry.Decision.Rule != want || dry.Decision.Action != event.ActionKeep {
					t.Errorf("%s: %+v", by, dry)
				}
				no(h, h.agent("bill"), refusal.NotFound, func(c caller.Caller) (policies.Routed, error) {
					return h.app.Policies.Route(ctx(h), c, policies.RouteInput{Task: r.Task})
				})
			}
		})
	}
}

func TestTheFallbacksOfThePolicyAreTriedInEveryHandoff(t *testing.T) {
	for _, kind := range ledgers {
		t.Run(kind, func(t *testing.T) {
			h := open(t, kind)
			defer h.stop()
			h.register("bill", agents.AgentSpec{Capabilities: []string{"billing"}})
			h.join("lead", "router")
			h.adopt(policyRules)
			h.ready("lead", agent.Busy)
			r := h.create(h.agent("router"), tasks.CreateInput{Intent: "x", Send: &handoffs.SendInput{To: []string{"lead"}}})
			if !slices.Equal(r.To, []string{"bill"}) {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestEveryVersionThatCameIntoForceIsRecorded(t *testing.T) {
	for _, kind := range ledgers {
		t.Run(kind, func(t *testing.T) {
			h := open(t, kind)
			defer h.stop()
			texts := []string{}
			for i := range 3 {
				texts = append(texts, fmt.Sprintf("version: 1 # %d\nrules: [{name: r%d, then: keep}]\n", i, i))
				h.adopt(texts[i])
			}
			var all sync.WaitGroup
			for range 5 { // the same file, by several at once
				all.Go(func() { h.adopt(texts[0]) })
			}
			all.Wait()
			list := ok(h, h.operator(), func(c caller.Caller) ([]policies.PolicyInForce, error) { return h.app.Policies.Versions(ctx(h), c, 0) })
			if len(list) != 4 || list[0].Version != 4 || list[0].Digest != list[3].Digest || list[0].Text != "" || list[0].By != "operator/ann" {
				t.Errorf("%+v", list)
			}
		})
	}
}

func TestARecordedPolicyIsUsedAfterARestartWithABadFile(t *testing.T) {
	h := open(t, sound())
	defer h.stop()
	h.join("coder", "bill")
	h.adopt("version: 1\nrules: [{name: stay, when: {from: [bill]}, then: keep}]\nfallbacks: {coder: [bill]}\n")
	bad := "version: 1\nrule: []\n"
	h.policy.Store(&bad)
	again, err := usecase.New(h.ledger, h.views.Store(), usecase.Options{Now: h.now, Policy: policies.Options{Read: h.readPolicy}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Policies.Load(ctx(h), identity.DefaultWorkspace); refusal.CodeOf(err) != refusal.Invalid {
		t.Errorf("the bad file: %v", err)
	}
	if _, err := again.Agents.SetReadiness(ctx(h), h.operator(), agents.ReadinessInput{Name: "coder", Readiness: agent.Offline}); err != nil {
		t.Fatal(err)
	}
	r, err := again.Tasks.Create(ctx(h), h.operator(), &tasks.CreateInput{Intent: "fix it", Send: &handoffs.SendInput{To: []string{"coder"}}})
	if err != nil || !slices.Equal(r.To, []string{"bill"}) {
		t.Errorf("the fallback of the policy is not asked: %+v, %v", r, err)
	}
}

func TestALostOwnerIsReplacedByItsFallbackOfThePolicy(t *testing.T) {
	story(t, func(h *harness) {
		h.join("coder", "bill")
		h.adopt("version: 1\nrules: [{name: stay, when: {from: [bill]}, then: keep}]\nfallbacks: {coder: [bill]}\n")
		r := h.create(h.operator(), tasks.CreateInput{
			Intent: "fix", Timeouts: event.Timeouts{Lease: event.Duration(time.Minute)}, Send: &handoffs.SendInput{To: []string{"coder"}},
		})
		h.accept("coder", h.wait("coder"))
		if item := h.wait("bill"); item.Task != r.Task || item.Reason != event.ReasonRecovery {
			h.Errorf("bill is asked: %+v", item)
		}
	})
}
