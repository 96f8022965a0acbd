//go:build slow

package usecase_test

import (
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/content/expect"
	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view/sqltest"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/artifacts"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/channels"
	"github.com/trapezehq/trapeze/internal/usecase/conversations"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/envelopestore"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
	"github.com/trapezehq/trapeze/internal/usecase/presence"
	"github.com/trapezehq/trapeze/internal/usecase/random"
	"github.com/trapezehq/trapeze/internal/usecase/routes"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// handoffHarness is what decides handoffs, and the task that ann works on.
type handoffHarness struct {
	*handoffs.Handoffs
	t    *testing.T
	log  ledger.Ledger
	task task.Task
}

// openHandoffs knows ann, bob, cyd, who is draining, and tiny, who can read very little.
func openHandoffs(t *testing.T) *handoffHarness {
	t.Helper()
	log, views := sqltest.Open(t)
	h := &handoffHarness{t: t, log: log}
	v := views.Store()
	reads, err := access.New(log, time.Now)
	h.must(err)
	here, chance := presence.New(time.Now), random.New(rand.Reader)
	tasks, err := taskstore.New(log, reads, here, time.Now, 16, false, nil)
	h.must(err)
	known, err := agents.NewStore(log, v, time.Now)
	h.must(err)
	lists, err := channels.NewStore(log, time.Now)
	h.must(err)
	files, err := artifacts.New(nil, log, v, reads, tasks, time.Now, artifacts.Options{})
	h.must(err)
	talks, err := conversations.NewStore(log, v, tasks, time.Now)
	h.must(err)
	sealed := envelopestore.New(log, tasks, 1<<20)
	items, err := memories.NewStore(log, v, tasks, sealed, talks, time.Now)
	h.must(err)
	sealer, err := envelopes.NewSealer(sealed, known, items, files, chance)
	h.must(err)
	between := routes.New(log, v, known, lists, chance, nil, time.Now)
	inForce, err := policies.NewStore(log, v, between, time.Now, nil, false)
	h.must(err)
	decider := policies.NewDecider(inForce, between, tasks, sealer, nil)
	h.Handoffs = handoffs.New(known, lists, between, inForce, decider, sealer, expect.New(expect.Options{}))

	r := agents.New(known, v, reads, here, time.Now)
	for name, spec := range map[string]agents.AgentSpec{"ann": {}, "bob": {}, "cyd": {}, "tiny": {ContextWindow: 200}} {
		_, err := r.Register(t.Context(), who(identity.Operator, "root"), agents.RegisterInput{Name: name, Spec: spec})
		h.must(err)
		state := agent.Ready
		if name == "cyd" {
			state = agent.Draining
		}
		_, err = r.SetReadiness(t.Context(), agentOf(name), agents.ReadinessInput{Name: name, Readiness: state})
		h.must(err)
	}
	ann := agentOf("ann")
	_, err = tasks.Decide(t.Context(), ann, "create", taskID, nil, func(s task.Task, now time.Time) ([]event.Event, error) {
		return handoff.Decide(s, handoff.Sequence{
			handoff.Create{By: ann.Principal, Task: taskID, Intent: strings.Repeat("pay order 7 back, but not order 8. ", 50)}, handoff.Start{By: ann.Principal},
		}, now)
	})
	h.must(err)
	h.task, err = tasks.Find(t.Context(), identity.DefaultWorkspace, taskID)
	h.must(err)
	last, err := log.Last(t.Context())
	h.must(err)
	h.must(v.Wait(t.Context(), last))
	return h
}

func (h *handoffHarness) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// send is what ann's handoff would record.
func (h *handoffHarness) send(in handoffs.SendInput) ([]event.Event, error) {
	in.Task, in.Epoch = taskID, h.task.Epoch
	return h.Decide(h.t.Context(), agentOf("ann"), in, h.task, time.Now())
}

// find is the event of a type.
func find[T event.Event](events []event.Event) (event T, is bool) {
	for _, e := range events {
		if event, is = e.(T); is {
			return event, true
		}
	}
	return event, false
}

func TestADecisionIsForItsCallerToRecord(t *testing.T) {
	h := openHandoffs(t)
	before, err := h.log.Last(t.Context())
	h.must(err)
	events, err := h.send(handoffs.SendInput{To: []string{"bob"}, Content: envelopes.Content{Ask: "pay"}})
	h.must(err)
	request, asked := find[event.HandoffRequested](events)
	offer, made := find[event.OfferMade](events)
	sealed, _ := find[event.Sealed](events)
	if !asked || !made || !slices.Equal(offer.To, []string{"bob"}) || request.Kind != event.Warm || request.Reason != event.ReasonUserRequest ||
		!strings.Contains(string(sealed.Bytes), `"pay"`) {
		t.Errorf("%+v", events)
	}
	if after, err := h.log.Last(t.Context()); err != nil || after != before {
		t.Errorf("the record went from %d to %d, %v", before, after, err)
	}
}

func TestAnOfferGoesToNobodyWhoCannotReadIt(t *testing.T) {
	h := openHandoffs(t)
	events, err := h.send(handoffs.SendInput{To: []string{"tiny", "bob"}})
	h.must(err)
	request, _ := find[event.HandoffRequested](events)
	offer, _ := find[event.OfferMade](events)
	passed := slices.ContainsFunc(request.Passed, func(p event.Passed) bool { return p.Agent == "tiny" && p.Why != "" })
	if !passed || !slices.Equal(offer.To, []string{"bob"}) {
		t.Errorf("passed over: %+v; offered to %v", request.Passed, offer.To)
	}
	if _, err := h.send(handoffs.SendInput{To: []string{"tiny"}}); refusal.CodeOf(err) != refusal.Budget {
		t.Errorf("to tiny alone: %v", err)
	}
}

func TestACallerIsToldThatTheReceiverTakesNothingAndTheServerWaitsForIt(t *testing.T) {
	h := openHandoffs(t)
	if _, err := h.send(handoffs.SendInput{To: []string{"cyd"}}); refusal.CodeOf(err) != refusal.Unavailable {
		t.Errorf("ann: %v", err)
	}
	pending := h.task
	pending.State, pending.Owner, pending.Path = event.Pending, "", nil
	events, err := h.Decide(t.Context(), caller.System(identity.DefaultWorkspace, "courier"),
		handoffs.SendInput{Task: taskID, To: []string{"cyd"}, Reason: event.ReasonSpecialization}, pending, time.Now())
	request, asked := find[event.HandoffRequested](events)
	if err != nil || !asked || len(request.Candidates) != 1 || request.Candidates[0].Agent != "cyd" {
		t.Errorf("the server: %+v, %v", events, err)
	}
}

func TestWhatDoesNotGoTogetherIsRefusedWithWhatToDoInstead(t *testing.T) {
	h := openHandoffs(t)
	bob, minute := []string{"bob"}, event.Timeouts{Wait: event.Duration(time.Minute)}
	for name, c := range map[string]struct {
		in   handoffs.SendInput
		says string
	}{
		"nobody is named":                       {handoffs.SendInput{}, "no route"},
		"copies without a broadcast":            {handoffs.SendInput{To: bob, FanOut: true}, "fan out"},
		"a constraint of a handoff that is not": {handoffs.SendInput{Constraints: []event.Constraint{{ID: "c", Kind: "prohibition", Text: "no cash"}}}, "no route"},
		"an approver whom nobody asks":          {handoffs.SendInput{To: bob, Approver: "ann"}, "approver"},
		"a fan-in without children":             {handoffs.SendInput{To: bob, FanIn: event.FanIn{Mode: event.FanInFirst}}, "fan-in"},
		"a wait without children":               {handoffs.SendInput{To: bob, Timeouts: minute}, "no children"},
		"a budget without children":             {handoffs.SendInput{To: bob, Budget: event.Budget{Tokens: 1}}, "budget"},
		"a confirm of what stays":               {handoffs.SendInput{To: bob, Kind: event.Delegation, Confirm: event.ConfirmExplicit}, "nothing to confirm"},
		"a child that comes home":               {handoffs.SendInput{To: bob, Kind: event.Delegation, ReturnHome: true}, "dead letters"},
		"a channel and a name":                  {handoffs.SendInput{To: bob, Channel: "news"}, "names the receivers"},
		"a warm handoff to a channel":           {handoffs.SendInput{Channel: "news", Kind: event.Warm}, "not published"},
		"a broadcast to a desk":                 {handoffs.SendInput{To: []string{"human:billing"}, Kind: event.Broadcast}, "desk"},
		"a capability where the policy decides": {handoffs.SendInput{To: []string{routing.Auto}, Capability: "pay"}, "the policy decides"},
	} {
		events, err := h.send(c.in)
		no, is := refusal.As(err)
		if !is || no.Code != refusal.Invalid || !strings.Contains(no.Message, c.says) || no.Hint == "" || events != nil {
			t.Errorf("%s: %v, %v", name, events, err)
		}
	}
}

func TestAHandoffIsAskedForAgainAsItWas(t *testing.T) {
	h := &task.Handoff{
		N: 3, Kind: event.Supervised, Reason: event.ReasonError, Detail: "it broke", Confirm: event.ConfirmExplicit, By: "agent/ann",
		Times: event.Timeouts{Offer: event.Duration(time.Minute), Wait: event.Duration(time.Hour)}, Retries: 2, ReturnHome: true, Approver: "dan",
		Permits: []string{"read"}, Pack: event.Pack{Tokens: 900}, Capability: "pay",
		Candidates: []event.Candidate{
			{Agent: "bob", Tier: event.TierTarget}, {Agent: "eve", Tier: event.TierFallback}, {Desk: "billing", Tier: event.TierTarget}, {Desk: "legal", Tier: event.TierEscalation},
		},
	}
	retries := 2
	want := handoffs.SendInput{
		Task: taskID, To: []string{"bob", "human:billing"}, Capability: "pay", Kind: h.Kind, Reason: h.Reason, Detail: "it broke; try once more", Confirm: h.Confirm,
		Timeouts: event.Timeouts{Offer: h.Times.Offer}, Retries: &retries, ReturnHome: true, Approver: "dan", Permissions: h.Permits, Pack: h.Pack, Asked: "agent/ann",
	}
	got := handoffs.Again(task.Task{ID: taskID}, h, "try once more", false)
	asked, err := json.Marshal(got)
	wanted, errW := json.Marshal(want)
	if err != nil || errW != nil || string(asked) != string(wanted) || got.Asked != want.Asked {
		t.Errorf("%s of %s, want %s", asked, got.Asked, wanted)
	}
	h.Channel = "news"
	if got := handoffs.Again(task.Task{ID: taskID}, h, "", false); got.Channel != "news" || got.To != nil || got.Capability != "" || got.Detail != "it broke" {
		t.Errorf("of a channel: %+v", got)
	}
	if got := handoffs.Again(task.Task{ID: taskID, Route: []string{"cyd"}}, h, "", true); got.Channel != "" || got.To != nil || got.Capability != "" {
		t.Errorf("along a new route: %+v", got)
	}
}
