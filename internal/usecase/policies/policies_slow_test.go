//go:build slow

package policies_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/view/sqltest"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// harness is the use cases over a ledger of their own, with a policy file that tests write.
type harness struct {
	*usecase.UseCases
	t       *testing.T
	log     *sqlitelog.Log
	store   *sqlview.Views
	read    func() (policies.File, error)
	adviser func(policy.LLM) (routing.Adviser, error)
}

func open(t *testing.T) *harness {
	t.Helper()
	log, views := sqltest.Open(t)
	h := &harness{t: t, log: log, store: views}
	h.restart()
	return h
}

// restart forgets everything that is not recorded, and the file.
func (h *harness) restart() {
	h.t.Helper()
	h.read = func() (policies.File, error) { return policies.File{None: true}, nil }
	var err error
	h.UseCases, err = usecase.New(h.log, h.store.Store(), usecase.Options{Policy: policies.Options{
		Read:    func(string) (policies.File, error) { return h.read() },
		Adviser: func(l policy.LLM) (routing.Adviser, error) { return h.adviser(l) },
	}})
	if err != nil {
		h.t.Fatal(err)
	}
}

var (
	operator = who(identity.Operator, "olga")
	agent    = who(identity.Agent, "ann")
)

func who(role identity.Role, name string) caller.Caller {
	return caller.Caller{Principal: identity.Principal{Workspace: identity.DefaultWorkspace, Role: role, Name: name}}
}

// rule is a policy with one rule of that name.
func rule(name string) string {
	return "version: 1\nrules: [{name: " + name + ", when: {tags: [x]}, then: keep}]\n"
}

// write makes a text the policy file.
func (h *harness) write(text string) {
	h.read = func() (policies.File, error) { return policies.File{Name: "policy.yaml", Text: []byte(text)}, nil }
}

// bring brings a text into force.
func (h *harness) bring(text string) policies.PolicyInForce {
	h.t.Helper()
	h.write(text)
	p, err := h.Policies.Reload(h.t.Context(), operator)
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

// inForce is the name of the first rule in force, in the record and in memory alike.
func (h *harness) inForce() string {
	h.t.Helper()
	p, err := h.Policies.Store().Policy(h.t.Context(), identity.DefaultWorkspace)
	if err != nil || p == nil {
		h.t.Fatal(p, err)
	}
	if m := h.Policies.Store().InMemory(identity.DefaultWorkspace); m != p {
		h.t.Errorf("in memory is %+v", m)
	}
	return p.Rules[0].Name
}

func TestAFileWithAnyProblemReplacesNothing(t *testing.T) {
	h := open(t)
	h.bring(rule("good"))
	for name, text := range map[string]string{
		"no YAML": "{", "an unknown field": "version: 1\nruls: []\n", "a target that is not there": "version: 1\nrules: [{name: a, when: {tags: [x]}, then: {to: {agent: zoe}}}]\n",
		"an expression that does not compile": "version: 1\nrules: [{name: a, when: {cel: 'task.foo == 1'}, then: keep}]\n", "nothing": "",
	} {
		h.write(text)
		_, err := h.Policies.Reload(t.Context(), operator)
		if refusal.CodeOf(err) != refusal.Invalid || h.inForce() != "good" || h.Policies.Err() == nil {
			t.Errorf("%s: %v, readiness says %v", name, err, h.Policies.Err())
		}
		if missing, err := h.Policies.Load(t.Context(), identity.DefaultWorkspace); err == nil || h.inForce() != "good" {
			t.Errorf("%s: when the server starts: %v, %v", name, missing, err)
		}
	}
	h.read = func() (policies.File, error) { return policies.File{}, errors.New("permission denied") }
	if _, err := h.Policies.Reload(t.Context(), operator); refusal.CodeOf(err) != refusal.Conflict || h.inForce() != "good" {
		t.Error(err)
	}
	h.bring(rule("better"))
	if h.Policies.Err() != nil || h.inForce() != "better" {
		t.Error(h.Policies.Err())
	}
}

func TestTheNewestRecordedPolicyIsInForceWhateverBecameOfTheFile(t *testing.T) {
	h := open(t)
	first := h.bring(rule("one"))
	if again := h.bring(rule("one")); again.Version != first.Version || again.Position != first.Position {
		t.Errorf("the same file is another version: %+v", again)
	}
	second := h.bring(rule("two"))
	h.restart()
	if _, err := h.Policies.Load(t.Context(), identity.DefaultWorkspace); err != nil || h.inForce() != "two" {
		t.Errorf("without a file: %v", err)
	}
	shown, err := h.Policies.Show(t.Context(), operator)
	if err != nil || shown.Version != 2 || shown.Digest != second.Digest || shown.By != "operator/olga" || shown.Text != rule("two") {
		t.Errorf("%+v, %v", shown, err)
	}
}

func TestOfTwoFilesReadAtTheSameTimeTheNewerStays(t *testing.T) {
	h := open(t)
	h.bring(rule("first"))
	reads := 0
	h.read = func() (policies.File, error) {
		reads++
		if reads == 1 { // while the older text is in this hand, the newer one comes into force
			h.write(rule("newer"))
			if _, err := h.Policies.Reload(t.Context(), operator); err != nil {
				t.Error(err)
			}
			return policies.File{Name: "policy.yaml", Text: []byte(rule("older"))}, nil
		}
		return policies.File{None: true}, nil
	}
	p, err := h.Policies.Reload(t.Context(), operator)
	if err != nil || h.inForce() != "newer" || p.Version != 2 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestTheReadersOfThePolicyAreRecorded(t *testing.T) {
	h := open(t)
	h.bring(rule("one"))
	entries := func(c caller.Caller) int {
		list, err := h.log.Stream(t.Context(), ledger.StreamOf(identity.DefaultWorkspace, access.Kind, strings.Replace(c.String(), "/", ":", 1)), 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	before := entries(operator)
	if _, err := h.Policies.Show(t.Context(), operator); err != nil || entries(operator) != before+1 {
		t.Errorf("%d entries after %d, %v", entries(operator), before, err)
	}
	before = entries(agent)
	if p, err := h.Policies.Show(t.Context(), agent); refusal.CodeOf(err) != refusal.NotPermitted || p.Text != "" || entries(agent) != before+1 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := h.Policies.Reload(t.Context(), agent); refusal.CodeOf(err) != refusal.NotPermitted {
		t.Error(err)
	}
}

func TestEveryVersionCanBeListed(t *testing.T) {
	h := open(t)
	const all = 230
	for i := range all {
		h.bring(rule(fmt.Sprint("r", i)))
	}
	next, before := all, 0
	for pages := 0; ; pages++ {
		list, err := h.Policies.Versions(t.Context(), operator, before)
		if err != nil || len(list) > 100 {
			t.Fatal(len(list), err)
		}
		if len(list) == 0 {
			break
		}
		for _, v := range list {
			if v.Version != next || v.Text != "" {
				t.Fatalf("%+v, want version %d", v, next)
			}
			next--
		}
		before = next + 1
	}
	if next != 0 {
		t.Errorf("%d are missing", next)
	}
}

func TestAPolicyMayNameAnAgentThatWasJustAdded(t *testing.T) {
	h := open(t)
	if _, err := h.Agents.Register(t.Context(), operator, agents.RegisterInput{Name: "zoe"}); err != nil {
		t.Fatal(err)
	}
	h.bring("version: 1\nrules: [{name: a, when: {tags: [x]}, then: {to: {agent: zoe}}}]\n")
	if h.inForce() != "a" {
		t.Error("it is not in force")
	}
}

type mute struct{}

func (mute) Advise(context.Context, string, *policy.Situation, []routing.Choice) (routing.Advice, error) {
	return routing.Advice{Why: "stay", Told: routing.Told{Tries: 1}}, nil
}

func TestAnAdviserIsMadeWithoutHoldingUpOthersAndKeptWhileItsConfigurationStays(t *testing.T) {
	h := open(t)
	made := 0
	h.adviser = func(policy.LLM) (routing.Adviser, error) {
		made++
		h.Policies.Store().InMemory(identity.DefaultWorkspace) // which waits for ever if it is held up
		return mute{}, nil
	}
	llm := "llm: {endpoint: 'https://model.example/v1', model: %s}\n"
	h.bring(rule("one") + fmt.Sprintf(llm, "m1"))
	for want, text := range []string{"", "", rule("two") + fmt.Sprintf(llm, "m1"), rule("two") + fmt.Sprintf(llm, "m2")} {
		if text != "" {
			h.bring(text)
		}
		r, err := h.Tasks.Create(t.Context(), agent, &tasks.CreateInput{Intent: "x", Send: &handoffs.SendInput{To: []string{routing.Auto}}})
		if err != nil || r.Decision == nil || r.Decision.Action != event.ActionKeep || !strings.Contains(strings.Join(r.Decision.Why, "; "), "stay") {
			t.Fatalf("%+v, %v", r, err)
		}
		if want == 3 && made != 2 || want < 3 && made != 1 {
			t.Errorf("after %d: made %d", want, made)
		}
	}
}
