package sending_test

import (
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/access"
	"github.com/trapezehq/trapeze/internal/caller"
	"github.com/trapezehq/trapeze/internal/custody"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/expect"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/handoff"
	"github.com/trapezehq/trapeze/internal/identity"
	"github.com/trapezehq/trapeze/internal/knowledge"
	"github.com/trapezehq/trapeze/internal/ledger"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/registry"
	"github.com/trapezehq/trapeze/internal/roster"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/rulebook"
	"github.com/trapezehq/trapeze/internal/sealing"
	"github.com/trapezehq/trapeze/internal/sending"
	"github.com/trapezehq/trapeze/internal/shelf"
	"github.com/trapezehq/trapeze/internal/view/sqltest"
)

const id = "task_00000000000000000000000001"

// house is a sender, and the task that ann works on.
type house struct {
	*sending.Sender
	t    *testing.T
	log  ledger.Ledger
	task custody.Task
}

// open knows ann, bob, cyd, who is away, and tiny, who can read very little.
func open(t *testing.T) *house {
	t.Helper()
	log, views := sqltest.Open(t)
	h := &house{t: t, log: log}
	v := views.Store()
	reads, err := access.New(log, time.Now)
	h.must(err)
	r, err := roster.New(log, v, reads, time.Now, rand.Reader, nil)
	h.must(err)
	tasks, err := docket.New(log, reads, r.Present, time.Now, 16)
	h.must(err)
	files, err := shelf.New(nil, log, v, reads, tasks.MayRead, time.Now, shelf.Options{})
	h.must(err)
	base, err := knowledge.New(log, v, reads, knowledge.Tasks{Load: tasks.Find}, time.Now, r.Random)
	h.must(err)
	sealer, err := sealing.New(log, tasks.Kind, sealing.Sources{Roster: r, Shelf: files, Base: base}, 1<<20)
	h.must(err)
	book, err := rulebook.New(log, v, r, rulebook.Tasks{For: tasks.For, Said: sealer.Said, Change: tasks.Change}, reads, time.Now, rulebook.Options{})
	h.must(err)
	h.Sender = sending.New(r, book, sealer, expect.New(expect.Options{}))

	for name, spec := range map[string]roster.AgentSpec{"ann": {}, "bob": {}, "cyd": {}, "tiny": {ContextWindow: 200}} {
		_, err := r.Register(t.Context(), who(identity.Operator, "root"), roster.RegisterInput{Name: name, Spec: spec})
		h.must(err)
		state := registry.Ready
		if name == "cyd" {
			state = registry.Offline
		}
		_, err = r.SetReadiness(t.Context(), agent(name), roster.ReadinessInput{Name: name, Readiness: state})
		h.must(err)
	}
	ann := agent("ann")
	_, err = tasks.Decide(t.Context(), ann, "create", id, nil, func(s custody.Task, now time.Time) ([]fact.Event, error) {
		return handoff.Decide(s, handoff.Sequence{
			handoff.Create{By: ann.By(), Task: id, Intent: strings.Repeat("pay order 7 back, but not order 8. ", 50)}, handoff.Start{By: ann.By()},
		}, now)
	})
	h.must(err)
	h.task, err = tasks.Find(t.Context(), identity.DefaultWorkspace, id)
	h.must(err)
	last, err := log.Last(t.Context())
	h.must(err)
	h.must(v.Wait(t.Context(), last))
	return h
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func who(role identity.Role, name string) caller.Caller {
	return caller.Caller{Principal: identity.Principal{Workspace: identity.DefaultWorkspace, Role: role, Name: name}}
}

func agent(name string) caller.Caller { return who(identity.Agent, name) }

// send is what ann's handoff would put on record.
func (h *house) send(in sending.SendInput) ([]fact.Event, error) {
	in.Task, in.Epoch = id, h.task.Epoch
	return h.Decide(h.t.Context(), agent("ann"), in, h.task, time.Now())
}

// find is the event of a type.
func find[T fact.Event](events []fact.Event) (event T, is bool) {
	for _, e := range events {
		if event, is = e.(T); is {
			return event, true
		}
	}
	return event, false
}

func TestADecisionIsForItsCallerToPutOnRecord(t *testing.T) {
	h := open(t)
	before, err := h.log.Last(t.Context())
	h.must(err)
	events, err := h.send(sending.SendInput{To: []string{"bob"}, Content: sealing.Content{Ask: "pay"}})
	h.must(err)
	request, asked := find[fact.HandoffRequested](events)
	offer, made := find[fact.OfferMade](events)
	sealed, _ := find[fact.Sealed](events)
	if !asked || !made || !slices.Equal(offer.To, []string{"bob"}) || request.Kind != fact.Warm || request.Reason != fact.ReasonUserRequest ||
		!strings.Contains(string(sealed.Bytes), `"pay"`) {
		t.Errorf("%+v", events)
	}
	if after, err := h.log.Last(t.Context()); err != nil || after != before {
		t.Errorf("the record went from %d to %d, %v", before, after, err)
	}
}

func TestAnOfferGoesToNobodyWhoCannotReadIt(t *testing.T) {
	h := open(t)
	events, err := h.send(sending.SendInput{To: []string{"tiny", "bob"}})
	h.must(err)
	request, _ := find[fact.HandoffRequested](events)
	offer, _ := find[fact.OfferMade](events)
	passed := slices.ContainsFunc(request.Passed, func(p fact.Passed) bool { return p.Agent == "tiny" && p.Why != "" })
	if !passed || !slices.Equal(offer.To, []string{"bob"}) {
		t.Errorf("passed over: %+v; offered to %v", request.Passed, offer.To)
	}
	if _, err := h.send(sending.SendInput{To: []string{"tiny"}}); refusal.CodeOf(err) != refusal.Budget {
		t.Errorf("to tiny alone: %v", err)
	}
}

func TestWhoAsksIsToldThatTheReceiverIsAwayAndTheServerWaitsForIt(t *testing.T) {
	h := open(t)
	if _, err := h.send(sending.SendInput{To: []string{"cyd"}}); refusal.CodeOf(err) != refusal.Unavailable {
		t.Errorf("ann: %v", err)
	}
	pending := h.task
	pending.State, pending.Owner, pending.Path = fact.Pending, "", nil
	events, err := h.Decide(t.Context(), caller.System(identity.DefaultWorkspace, "courier"),
		sending.SendInput{Task: id, To: []string{"cyd"}, Reason: fact.ReasonSpecialization}, pending, time.Now())
	request, asked := find[fact.HandoffRequested](events)
	if err != nil || !asked || len(request.Candidates) != 1 || request.Candidates[0].Agent != "cyd" {
		t.Errorf("the server: %+v, %v", events, err)
	}
}

func TestWhatDoesNotGoTogetherIsRefusedWithWhatToDoInstead(t *testing.T) {
	h := open(t)
	bob, minute := []string{"bob"}, fact.Timeouts{Wait: fact.Duration(time.Minute)}
	for name, c := range map[string]struct {
		in   sending.SendInput
		says string
	}{
		"nobody is named":                       {sending.SendInput{}, "no route"},
		"copies without a broadcast":            {sending.SendInput{To: bob, FanOut: true}, "fan out"},
		"a constraint of a handoff that is not": {sending.SendInput{Constraints: []fact.Constraint{{ID: "c", Kind: "prohibition", Text: "no cash"}}}, "no route"},
		"an approver whom nobody asks":          {sending.SendInput{To: bob, Approver: "ann"}, "approver"},
		"a fan-in without children":             {sending.SendInput{To: bob, FanIn: fact.FanIn{Mode: fact.FanInFirst}}, "fan-in"},
		"a wait without children":               {sending.SendInput{To: bob, Timeouts: minute}, "no children"},
		"a budget without children":             {sending.SendInput{To: bob, Budget: fact.Budget{Tokens: 1}}, "budget"},
		"a confirm of what stays":               {sending.SendInput{To: bob, Kind: fact.Delegation, Confirm: fact.ConfirmExplicit}, "nothing to confirm"},
		"a child that comes home":               {sending.SendInput{To: bob, Kind: fact.Delegation, ReturnHome: true}, "dead letters"},
		"a channel and a name":                  {sending.SendInput{To: bob, Channel: "news"}, "names the receivers"},
		"a warm handoff to a channel":           {sending.SendInput{Channel: "news", Kind: fact.Warm}, "not published"},
		"a broadcast to a desk":                 {sending.SendInput{To: []string{"human:billing"}, Kind: fact.Broadcast}, "desk"},
		"a capability where the policy decides": {sending.SendInput{To: []string{routing.Auto}, Capability: "pay"}, "the policy decides"},
	} {
		events, err := h.send(c.in)
		no, is := refusal.As(err)
		if !is || no.Code != refusal.Invalid || !strings.Contains(no.Message, c.says) || no.Hint == "" || events != nil {
			t.Errorf("%s: %v, %v", name, events, err)
		}
	}
}

func TestAHandoffIsAskedForAgainAsItWas(t *testing.T) {
	h := &custody.Handoff{
		N: 3, Kind: fact.Supervised, Reason: fact.ReasonError, Detail: "it broke", Confirm: fact.ConfirmExplicit, By: "agent/ann",
		Times: fact.Timeouts{Offer: fact.Duration(time.Minute), Wait: fact.Duration(time.Hour)}, Retries: 2, ReturnHome: true, Approver: "dan",
		Permits: []string{"read"}, Pack: fact.Pack{Tokens: 900}, Capability: "pay",
		Candidates: []fact.Candidate{
			{Agent: "bob", Tier: fact.TierTarget}, {Agent: "eve", Tier: fact.TierFallback}, {Desk: "billing", Tier: fact.TierTarget}, {Desk: "legal", Tier: fact.TierEscalation},
		},
	}
	retries := 2
	want := sending.SendInput{
		Task: id, To: []string{"bob", "human:billing"}, Capability: "pay", Kind: h.Kind, Reason: h.Reason, Detail: "try once more", Confirm: h.Confirm,
		Timeouts: fact.Timeouts{Offer: h.Times.Offer}, Retries: &retries, ReturnHome: true, Approver: "dan", Permissions: h.Permits, Pack: h.Pack, Asked: "agent/ann",
	}
	got := sending.Again(custody.Task{ID: id}, h, "try once more", false)
	asked, err := json.Marshal(got)
	wanted, errW := json.Marshal(want)
	if err != nil || errW != nil || string(asked) != string(wanted) || got.Asked != want.Asked {
		t.Errorf("%s of %s, want %s", asked, got.Asked, wanted)
	}
	h.Channel = "news"
	if got := sending.Again(custody.Task{ID: id}, h, "", false); got.Channel != "news" || got.To != nil || got.Capability != "" || got.Detail != "it broke" {
		t.Errorf("of a channel: %+v", got)
	}
	if got := sending.Again(custody.Task{ID: id, Route: []string{"cyd"}}, h, "", true); got.Channel != "" || got.To != nil || got.Capability != "" {
		t.Errorf("along a new route: %+v", got)
	}
}
