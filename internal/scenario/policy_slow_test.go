//go:build slow || outside

package scenario

import (
	"net/http"
	"strings"
	"testing"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
)

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
