package handoff

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// Rules that a story would tell badly: bounds, corners, and what other packages use.

// badRequests are requests that no executing task of ada's accepts, with the code of the refusal.
var badRequests = []struct {
	name   string
	change func(*Send)
	code   refusal.Code
}{
	{"no kind", func(r *Send) { r.Kind = "" }, refusal.Invalid},
	{"no reason", func(r *Send) { r.Reason = "" }, refusal.Invalid},
	{"a control character in a name", to("be\x07n"), refusal.Invalid},
	{"a path as a name", to("../ben"), refusal.Invalid},
	{"invalid UTF-8 in a name", to("\xff"), refusal.Invalid},
	{"no name", to(""), refusal.Invalid},
	{"a space in the capability", func(r *Send) { r.Capability = "writes go" }, refusal.Invalid},
	{"a control character in the approver", func(r *Send) { r.Kind, r.Approver = event.Supervised, "an\nn" }, refusal.Invalid},
	{"a negative clock", func(r *Send) { r.Timeouts.Ack = -1 }, refusal.Invalid},
	{"an absurd clock", func(r *Send) { r.Timeouts.Wait = event.Duration(math.MaxInt64) }, refusal.Invalid},
	{"negative retries", func(r *Send) { n := -1; r.Retries = &n }, refusal.Invalid},
	{"too many retries", func(r *Send) { n := event.MaxRetries + 1; r.Retries = &n }, refusal.Invalid},
	{"too long a detail", func(r *Send) { r.Detail = strings.Repeat("x", event.MaxText+1) }, refusal.TooLarge},
	{"invalid UTF-8 in the detail", func(r *Send) { r.Detail = "\xff" }, refusal.Invalid},
	{"too many candidates", func(r *Send) { r.Candidates = make([]event.Candidate, event.MaxCandidates+1) }, refusal.TooLarge},
	{"no candidates", func(r *Send) { r.Candidates = nil }, refusal.Unavailable},
	{"only itself", to("ada"), refusal.Unavailable},
	{"no envelope", func(r *Send) { r.Envelope = event.Sealed{} }, refusal.Invalid},
	{"an envelope out of order", func(r *Send) { r.Envelope.Parent = "sha256:0" }, refusal.Conflict},
	{"a permission named none", func(r *Send) { r.Permissions = []string{"None", "read"} }, refusal.Invalid},
	{"a permission twice", func(r *Send) { r.Permissions = []string{"read", "read"} }, refusal.Invalid},
}

func TestRequestsThatMakeNoSenseAreRefused(t *testing.T) {
	b := build(t, create, start)
	for _, c := range badRequests {
		t.Run(c.name, func(t *testing.T) {
			events, err := Decide(b.task, send(c.change)(b.task), b.now)
			if refusal.CodeOf(err) != c.code || len(events) > 0 {
				t.Errorf("%v %v, want %s", eventNames(events), err, c.code)
			}
		})
	}
}

func TestTasksThatMakeNoSenseAreRefused(t *testing.T) {
	many := make([]event.Dependency, event.MaxDependencies+1)
	for name, c := range map[string]func(*Create){
		"an id that is none":         func(c *Create) { c.Task = "task_../etc" },
		"no intent":                  func(c *Create) { c.Intent = " \n" },
		"too long an intent":         func(c *Create) { c.Intent = strings.Repeat("x", event.MaxIntent+1) },
		"history that is not JSON":   func(c *Create) { c.Claimed = []byte("{") },
		"history nested deeply":      func(c *Create) { c.Claimed = []byte(strings.Repeat("[", 100) + strings.Repeat("]", 100)) },
		"a permission with a space":  func(c *Create) { c.Permissions = []string{"a b"} },
		"a permission named none":    func(c *Create) { c.Permissions = []string{"none"} },
		"a constraint without words": func(c *Create) { c.Constraints = []event.Constraint{{ID: "c", Kind: event.ConstraintBudget}} },
		"a budget below zero":        func(c *Create) { c.Budget.Cost = -1 },
		"a dependency that is none":  func(c *Create) { c.Dependencies = []event.Dependency{{Task: "x"}} },
		"too many dependencies":      func(c *Create) { c.Dependencies = many },
		"too long a route":           func(c *Create) { c.Route = make([]string, event.MaxRoute+1) },
		"a length below zero":        func(c *Create) { c.Expected.MaxBytes = -1 },
		"a schema that is not JSON":  func(c *Create) { c.Expected.Schema = []byte("?") },
	} {
		command := create(task.Task{}).(Create)
		c(&command)
		_, err := Decide(task.Task{}, command, t0)
		if properRefusal(err) != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCandidatesAreTriedTierByTierAndOnce(t *testing.T) {
	b := build(t, create, start, send(func(r *Send) {
		r.Candidates = slices.Concat(tier(event.TierEscalation, "lead"), tier("", "ben"), tier(event.TierFallback, "cleo"), targets("ben"))
	}))
	want := slices.Concat(targets("ben"), tier(event.TierFallback, "cleo"), tier(event.TierEscalation, "lead"))
	if got := b.task.Handoff.Candidates; !slices.Equal(got, want) {
		t.Errorf("candidates %v, want %v", got, want)
	}
}

func TestAnAgentThatJoinsAClaimStandsBeforeTheFallbacks(t *testing.T) {
	b := build(t, create, start, send(kind(event.Broadcast), func(r *Send) { r.Candidates = append(targets("ben"), tier(event.TierFallback, "eve")...) }),
		func(task.Task) Command { return JoinClaim{Agent: "dan", Handoff: 1} })
	b = b.wait(11 * time.Minute).then(tick)
	if h := b.task.Handoff; !slices.Equal(h.To, []string{"eve"}) || len(h.Candidates) != 3 {
		t.Errorf("offered to %v of %v, want the fallback", h.To, h.Candidates)
	}
}

func TestNobodyJoinsASupervisedClaim(t *testing.T) {
	b := build(t, create, start, send(kind(event.Supervised), to("ben", "cleo"), func(r *Send) { r.Claim = true }),
		func(task.Task) Command { return Approve{By: operator("bob"), Handoff: 1} })
	if events, err := Decide(b.task, JoinClaim{Agent: "dan", Handoff: 1}, b.now); len(events) > 0 || err != nil {
		t.Errorf("joined what was not approved for it: %v %v", eventNames(events), err)
	}
}

func TestALeaseThatAHandoffAsksForHoldsForItsReceiver(t *testing.T) {
	b := build(t, create, start, send(func(r *Send) { r.Timeouts.Lease = event.Duration(time.Minute) }), accept("ben"))
	if left := b.task.Lease.Sub(b.now); left != time.Minute {
		t.Errorf("the receiver got a lease of %s", left)
	}
	b = b.wait(50 * time.Second).then(progress)
	if left := b.task.Lease.Sub(b.now); left != time.Minute {
		t.Errorf("its progress renewed the lease for %s", left)
	}
}

func TestAskingForAHandoffShowsLife(t *testing.T) {
	b := build(t, create, start).wait(29*time.Minute).then(send(explicit), accept("ben"))
	b = b.wait(2 * time.Minute).then(tick)
	if b.task.Owner != "ada" {
		t.Errorf("%s owns the task: the source was taken for dead 31 minutes after its last call but two", b.task.Owner)
	}
}

func TestAConfirmOverdueWithoutAnOwnerReturnsToTheRequester(t *testing.T) {
	b := build(t, create, send(explicit), accept("ben")).wait(2 * time.Minute).then(tick)
	if b.task.State != event.Pending || !b.task.Resumed || b.task.Handoff.Stage != event.Expired {
		t.Errorf("%s %+v", b.task.State, b.task.Handoff)
	}
}

func TestReturnsOfOlderRecordsMeanWhatTheyMeant(t *testing.T) {
	b := build(t, create, send())
	for _, c := range []struct {
		json    string
		resumed bool
	}{
		{`{"handoff": 1, "outcome": "rejected", "why": "no", "at": "2026-01-01T00:00:00Z"}`, true},
		{`{"handoff": 1, "outcome": "cancelled", "why": "withdrawn by operator/ann", "at": "2026-01-01T00:00:00Z"}`, false},
	} {
		var e event.Returned
		if err := json.Unmarshal([]byte(c.json), &e); err != nil {
			t.Fatal(err)
		}
		if after := task.Fold(b.task, e); after.State != event.Pending || after.Resumed != c.resumed || !after.Due().IsZero() {
			t.Errorf("%s: %s, resumed %v, due %s", c.json, after.State, after.Resumed, after.Due())
		}
	}
	parked := task.Fold(b.task, event.ParkedTask{Cause: event.ParkReturned, Detail: "no"})
	if after := task.Fold(parked, event.Replayed{By: "operator/ann"}); after.State != event.Pending || after.Resumed || !after.Due().IsZero() {
		t.Errorf("a replay: %s, resumed %v, due %s", after.State, after.Resumed, after.Due())
	}
}

func TestAskersAndSharesAreBounded(t *testing.T) {
	b := build(t, create, start)
	for i := range event.MaxTakeovers {
		b = b.then(func(task.Task) Command { return Takeover{By: agent(fmt.Sprint("agent", i))} })
	}
	if _, err := Decide(b.task, Takeover{By: agent("late")}, b.now); refusal.CodeOf(err) != refusal.Limit {
		t.Errorf("one more asks: %v", err)
	}
	share := func(t task.Task) Command {
		return Share{By: agent("ada"), Epoch: 1, To: "ben", Envelope: nextEnvelope(t)}
	}
	for range event.MaxShares {
		b = b.then(share)
	}
	if _, err := Decide(b.task, share(b.task), b.now); refusal.CodeOf(err) != refusal.Limit {
		t.Errorf("one more is shared: %v", err)
	}
}

func TestReportsThatAddUpBeyondAllNumbersDoNotWrapAround(t *testing.T) {
	most := int64(1) << 50
	b := build(t, create, start)
	for range 40 {
		b.task.Spent = b.task.Spent.Plus(b.task.Spent).Plus(event.Budget{Tokens: most})
	}
	if b.task.Spent.Tokens <= 0 {
		t.Errorf("spent %d", b.task.Spent.Tokens)
	}
	b.task.Budget.Tokens = most
	if used, over := b.task.BudgetSpent(); !used || !over {
		t.Error("a budget that is overspent without measure looks unspent")
	}
}

func TestWhatAChildSpentIsCountedHoweverMuchItSays(t *testing.T) {
	for _, spent := range []int64{-5, 1 << 55} {
		b := build(t, create, start, delegate, func(task.Task) Command {
			return EndChild{Child: taskID(100), State: event.Completed, Spent: event.Budget{Tokens: spent}}
		})
		if b.task.State != event.Executing || b.task.Spent.Tokens < 0 {
			t.Errorf("after a child that spent %d: %s, spent %d", spent, b.task.State, b.task.Spent.Tokens)
		}
	}
}

func TestATakeoverNeedsAnEnvelopeThatFollows(t *testing.T) {
	b := build(t, create, start, func(task.Task) Command { return Takeover{By: agent("ben")} })
	for _, e := range []event.Sealed{{}, {Digest: "sha256:9", Parent: "sha256:8"}} {
		if _, err := Decide(b.task, ApproveTakeover{By: agent("ada"), Epoch: 1, Takeover: 1, Envelope: e}, b.now); err == nil {
			t.Errorf("granted with the envelope %+v", e)
		}
	}
}

func TestTooManyResultsForOneAreNamedAndLeftWithTheChildren(t *testing.T) {
	b := build(t, create, func(t task.Task) Command {
		c := delegate(t).(Spawn)
		c.Kind, c.Children = event.Broadcast, nil
		for i := range 3 {
			c.Children = append(c.Children, event.NewChild{Task: taskID(100 + i), To: fmt.Sprint("agent", i), Intent: "a part"})
		}
		return c
	})
	for i := range 3 {
		b = b.then(func(task.Task) Command {
			return EndChild{Child: taskID(100 + i), State: event.Completed, Result: &event.Result{Text: strings.Repeat("x", event.MaxResult/2)}}
		})
	}
	if r := b.task.Result; b.task.State != event.Completed || r.Check() != nil || !strings.Contains(r.Text, "each child has its own") {
		t.Errorf("%s with a result of %d bytes: %s", b.task.State, len(r.Data), r.Text)
	}
}

func TestAChildInheritsWhatBindsItsParent(t *testing.T) {
	deadline := t0.Add(time.Hour)
	b := build(t, func(task.Task) Command {
		return Create{
			By: agent("ada"), Task: taskID(1), Intent: "do it", Deadline: deadline, Permissions: []string{"read", "write"}, Priority: event.Urgent,
			Limits: event.Limits{Hops: 3}, Constraints: []event.Constraint{{ID: "c", Kind: event.ConstraintSecurity, Text: "no secrets"}},
		}
	}, start, send(), accept("ben"), progress)
	b.task.Used.Attempts = 2 // lost owners
	events, err := Decide(b.task, Spawn{
		By: agent("ben"), Epoch: 2, Kind: event.Delegation, Reason: event.ReasonSpecialization, Envelope: nextEnvelope(b.task), Permissions: []string{"read"},
		Children: []event.NewChild{{Task: taskID(100), To: "cleo", Intent: "a part"}}, FanIn: event.FanIn{Mode: event.FanInAll},
	}, b.now)
	if err != nil {
		t.Fatal(err)
	}
	parent := task.FoldAll(b.task, events)
	child, _, err := realRules.apply(task.Task{}, ChildOf(parent, events[1].(event.Spawned), 0), b.now)
	if err != nil {
		t.Fatal(err)
	}
	if child.Used.Hops != 1 || child.Used.Attempts != 2 || child.Limits.Hops != 3 || !child.Deadline.Equal(deadline) || child.Priority != event.Urgent ||
		!slices.Equal(child.Permissions, []string{"read"}) || len(child.Constraints) != 1 || child.Constraints[0].Origin != "agent/ada" ||
		child.Requester != "agent/ben" || child.Parent.Task != taskID(1) {
		t.Errorf("%+v", child)
	}
	// Back to its parent's owner without progress would be a loop, and to do it itself as well.
	if why := child.Loop("ben", false); why == "" {
		t.Error("the child may go back to where it came from, with nothing done")
	}
	if _, err := Decide(child, Start{By: agent("ben")}, b.now); refusal.CodeOf(err) != refusal.Limit {
		t.Errorf("the parent's owner started its own child: %v", err)
	}
}

func TestAReportOfAGapParksNoTaskThatIsBeingHandedOff(t *testing.T) {
	b := build(t, func(task.Task) Command {
		return Create{By: agent("ada"), Task: taskID(1), Intent: "do it", Budget: event.Budget{Tokens: 10}}
	}, start, send(), func(t task.Task) Command {
		return ReportGap{By: agent("ada"), Epoch: t.Epoch, Missing: []string{"the key"}, Usage: event.Budget{Tokens: 20}}
	})
	if b.task.State != event.HandingOff || b.task.Spent.Tokens != 20 {
		t.Errorf("%s, %d tokens spent", b.task.State, b.task.Spent.Tokens)
	}
}

func TestTheTickerKnowsWhenARecoveryIsNeeded(t *testing.T) {
	b := build(t, create, start)
	if b.task.NeedsRecovery(b.now) || !b.task.NeedsRecovery(b.now.Add(time.Hour)) {
		t.Error("the lease is 30 minutes")
	}
	if b = b.then(send()); b.task.NeedsRecovery(b.now.Add(time.Hour)) {
		t.Error("a task that is being handed off needs no recovery")
	}
}

func TestALostOwnerIsAskedLastWhateverTheTiersSay(t *testing.T) {
	b := build(t, create, start).wait(time.Hour).then(func(task.Task) Command {
		return Tick{Recovery: slices.Concat(tier(event.TierFallback, "ben"), targets("ada"), tier(event.TierFallback, "ben"))}
	})
	if h := b.task.Handoff; !slices.Equal(h.To, []string{"ben"}) || len(h.Candidates) != 2 || h.Candidates[1].Agent != "ada" {
		t.Errorf("offered to %v of %v", h.To, h.Candidates)
	}
}

func TestIdsLeadBackToTheirTask(t *testing.T) {
	task := taskID(7)
	for _, parse := range []struct {
		id    string
		parse func(string) (string, int, error)
	}{{event.HandoffID(task, 12), event.ParseHandoffID}, {event.TakeoverID(task, 3), event.ParseTakeoverID}, {event.ShareID(task, 1), event.ParseShareID}, {event.TicketID(task, 1), event.ParseTicketID}} {
		got, n, err := parse.parse(parse.id)
		if err != nil || got != task || n < 1 {
			t.Errorf("%s: %s %d %v", parse.id, got, n, err)
		}
		for _, bad := range []string{"", task, parse.id + "x", "x" + parse.id, strings.Replace(parse.id, ".", "..", 1), task + ".h0", task + ".h99999999999", task + ".h-1"} {
			_, _, err := parse.parse(bad)
			if properRefusal(err) != nil {
				t.Errorf("%q: %v", bad, err)
			}
		}
	}
}

func TestWhatTheServerAsksForAndNobodyCanTakeIsParked(t *testing.T) {
	b := build(t, create)
	for _, by := range []identity.Principal{agent("ada"), system} {
		events, err := Decide(b.task, Send{
			By: by, Kind: event.Warm, Reason: event.ReasonSpecialization, Candidates: targets("ben"), Envelope: nextEnvelope(b.task),
			Hints: Hints{Unfit: map[string]string{"ben": "is away"}},
		}, b.now)
		after := task.FoldAll(b.task, events)
		if by.IsSystem() && (err != nil || after.State != event.Parked || after.Handoff != nil) {
			t.Errorf("asked for by the server: %s, %v", after.State, err)
		}
		if !by.IsSystem() && refusal.CodeOf(err) != refusal.Unavailable {
			t.Errorf("asked for by its requester: %v, %v", eventNames(events), err)
		}
	}
}

// None is what readers are shown for no permissions: no permission may be named so, but a task of an old record may have one.
func TestNoPermissionIsNamedNone(t *testing.T) {
	for _, bad := range [][]string{{"none"}, {"None"}, {"read", "NONE"}, {"none", "read"}} {
		if err := authority.RequireNarrower(task.Task{}, bad); refusal.CodeOf(err) != refusal.Invalid || !strings.Contains(err.Error(), "a permission cannot be named none") {
			t.Errorf("%q: %v", bad, err)
		}
		if err := authority.RequireNarrower(task.Task{Permissions: bad}, bad); err != nil {
			t.Errorf("%q of a task: %v", bad, err)
		}
	}
	for _, good := range [][]string{nil, {}, {"read"}, {"none:read", "nones"}} {
		if err := authority.RequireNarrower(task.Task{}, good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
}
