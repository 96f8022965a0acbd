package scenario

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	api "github.com/trapezehq/trapeze/client"
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

func TestABadFileNeverReplacesAGoodPolicyAlsoNotAtTheStart(t *testing.T) {
	for _, kind := range ledgers {
		t.Run(kind, func(t *testing.T) {
			h := open(t, kind)
			defer h.stop()
			reload := func(c caller.Caller) (policies.PolicyInForce, error) { return h.app.Policies.Reload(ctx(h), c) }
			no(h, h.operator(), refusal.NotFound, reload) // there is no file
			text := policyRules
			h.policy.Store(&text)
			no(h, h.operator(), refusal.Invalid, reload) // nobody is there yet
			missing, err := h.app.Policies.Load(ctx(h), identity.DefaultWorkspace)
			for refusal.CodeOf(err) == refusal.Unknown { // a distributed log may not know: as with any call, it is made again
				missing, err = h.app.Policies.Load(ctx(h), identity.DefaultWorkspace)
			}
			if err != nil || len(missing) == 0 { // but a server may start
				t.Fatal(missing, err)
			}
			h.register("bill", agents.AgentSpec{Capabilities: []string{"billing"}})
			h.join("lead")
			for _, bad := range []string{"version: 1\nrules: [", "version: 1\nrule: []", strings.Replace(policyRules, "chain: up}", "chain: down}", 1), strings.Replace(policyRules, "agent: bill", "agent: nobody", 1)} {
				h.policy.Store(&bad)
				_, err := call(h.operator(), reload)
				if r, is := refusal.As(err); !is || r.Code != refusal.Invalid || !strings.Contains(r.Message, "policy.yaml:") {
					t.Errorf("%v", err)
				}
				if _, err := h.app.Policies.Load(ctx(h), identity.DefaultWorkspace); err == nil || h.app.Policies.Err() == nil {
					t.Error("a server starts with a bad file and says nothing")
				}
				p := ok(h, h.operator(), func(c caller.Caller) (policies.PolicyInForce, error) { return h.app.Policies.Show(ctx(h), c) })
				if p.Text != policyRules || p.Version != 1 || p.FileProblem == "" {
					t.Errorf("in force is %+v", p)
				}
			}
			if p := h.adopt(policyRules); p.Version != 1 || h.app.Policies.Err() != nil {
				t.Errorf("the same again: %+v, %v", p, h.app.Policies.Err())
			}
			for _, who := range []caller.Caller{h.agent("bill"), h.as(identity.Auditor, "aud")} {
				no(h, who, refusal.NotPermitted, reload)
			}
			no(h, h.agent("bill"), refusal.NotPermitted, func(c caller.Caller) (policies.PolicyInForce, error) { return h.app.Policies.Show(ctx(h), c) })
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
	r, err := again.Tasks.Create(ctx(h), h.operator(), tasks.CreateInput{Intent: "fix it", Send: &handoffs.SendInput{To: []string{"coder"}}})
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

func TestWhatACreatorSaysIsKeptWhereThePolicyKeepsTheTask(t *testing.T) {
	a := openAdvised(t, "  - {name: never, when: {tags: [never]}, then: keep}\n")
	failing := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	a.answer.Store(&failing)
	coder := a.agent("coder", api.AgentSpec{})
	a.agent("bill", api.AgentSpec{Capabilities: []string{"billing"}})
	r, err := coder.CreateTask(t.Context(), api.CreateInput{
		Intent: "pay", Start: true, Content: api.Content{Facts: []api.Point{{Text: "they are owed 300"}}}, Send: &api.SendInput{To: []string{"auto"}},
	})
	if err != nil || r.Envelope == "" || r.Owner != "coder" {
		t.Fatalf("%+v, %v", r, err)
	}
	sheet, err := coder.Content(t.Context(), r.Task, api.ContentInput{})
	if err != nil || !strings.Contains(string(sheet.Envelope), "they are owed 300") {
		t.Errorf("%s, %v", sheet.Envelope, err)
	}
}
