package scenario

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"

	door "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func TestAConstraintThatIsSetWhileAnApprovedTaskWaitsAtADeskReachesWhoeverTakesIt(t *testing.T) {
	story(t, func(h *house) {
		h.join("coder")
		zoe := h.person("zoe", "billing")
		r := h.create(h.agent("coder"), tasks.CreateInput{Intent: "refund it", Start: true})
		sent := h.send(h.agent("coder"), r, handoffs.SendInput{To: []string{"human:billing"}, Kind: event.Supervised})
		approved := ok(h, h.operator(), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Approve(ctx(h), c, tasks.ApproveInput{ID: sent.Handoff})
		})
		h.constrain(h.operator(), r.Task, event.Constraint{ID: "most", Kind: event.ConstraintBudget, Text: "never more than 100"})
		if _, err := h.claim(zoe, approved.Ticket); err != nil {
			h.Fatal(err)
		}
		sheet := ok(h, zoe, func(c caller.Caller) (envelopes.Sheet, error) {
			return h.app.Envelopes.Fetch(ctx(h), c, envelopes.ContentInput{ID: r.Task})
		})
		if !strings.Contains(string(sheet.Envelope), "never more than 100") {
			h.Errorf("zoe is given: %s", sheet.Envelope)
		}
	})
}

func TestWhoAsksUnderOneNameDoesNotApproveOrAnswerUnderAnother(t *testing.T) {
	story(t, func(h *house) {
		h.join("ben")
		ann := h.person("ann", "billing") // and h.operator is ann, too
		r := h.create(ann, tasks.CreateInput{Intent: "pay me", Start: true})
		sent := h.send(ann, r, handoffs.SendInput{To: []string{"ben"}, Kind: event.Supervised})
		_, err := call(h.operator(), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Approve(ctx(h), c, tasks.ApproveInput{ID: sent.Handoff})
		})
		if refusal.CodeOf(err) != refusal.NotPermitted {
			h.Errorf("operator ann approves what the agent ann asked for: %v", err)
		}
	})
}

func TestAPolicyThatIsOnRecordIsUsedAfterARestartWithABadFile(t *testing.T) {
	h := open(t, "sqlite")
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
		t.Errorf("the stand-in of the policy is not asked: %+v, %v", r, err)
	}
}

func TestALostOwnerIsReplacedByItsStandInOfThePolicy(t *testing.T) {
	story(t, func(h *house) {
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
	coder := a.agent("coder", door.AgentSpec{})
	a.agent("bill", door.AgentSpec{Capabilities: []string{"billing"}})
	r, err := coder.CreateTask(t.Context(), door.CreateInput{
		Intent: "pay", Start: true, Content: door.Content{Facts: []door.Point{{Text: "they are owed 300"}}}, Send: &door.SendInput{To: []string{"auto"}},
	})
	if err != nil || r.Envelope == "" || r.Owner != "coder" {
		t.Fatalf("%+v, %v", r, err)
	}
	sheet, err := coder.Content(t.Context(), r.Task, door.ContentInput{})
	if err != nil || !strings.Contains(string(sheet.Envelope), "they are owed 300") {
		t.Errorf("%s, %v", sheet.Envelope, err)
	}
}

func TestATaskThatNobodyTookFromADeskIsAskedForThereAgainByAReplay(t *testing.T) {
	story(t, func(h *house) {
		h.person("zoe", "legal")
		r := h.create(h.operator(), tasks.CreateInput{
			Intent: "may we?", Timeouts: event.Timeouts{Answer: event.Duration(20 * time.Minute)}, Send: &handoffs.SendInput{To: []string{"human:legal"}},
		})
		h.inState(r.Task, event.Parked)
		again := ok(h, h.operator(), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Replay(ctx(h), c, tasks.ReplayInput{Task: r.Task, Note: "zoe is back"})
		})
		got := h.task(r.Task)
		if again.State != event.Waiting || got.OpenTicket() == nil || got.Ticket.Desk != "legal" || got.Ticket.N != 2 {
			h.Errorf("%s, %+v", again.State, got.Ticket)
		}
	})
}
