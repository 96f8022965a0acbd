package figure_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/figure"
)

// failsBy adds a handoff of a sender that fails.
func (r *record) failsBy(task, sender string) {
	r.Helper()
	r.add(task, 2*time.Minute, event.Created{Task: task}, event.HandoffRequested{Handoff: 1, From: sender, By: "agent/" + sender, Kind: event.Warm, Reason: event.ReasonError},
		event.Returned{Handoff: 1, Outcome: event.Expired})
}

// losesBy adds a handoff of a sender whose envelope lost everything; of some, in a share.
func (r *record) losesBy(task, sender string, shared bool) {
	r.Helper()
	lost := event.Rendered{Handoff: 1, Offer: 1}
	if shared {
		lost = event.Rendered{Share: 1}
	}
	r.add(task, 2*time.Minute, event.Created{Task: task}, event.HandoffRequested{Handoff: 1, From: sender, Kind: event.Warm, Reason: event.ReasonError},
		event.Shared{Share: 1, From: sender}, lost)
}

// TestOneSenderIsNoFaultOfTheSystem: what one agent sends, however much, raises no alert about the system, nor does it with the chance failure of another.
func TestOneSenderIsNoFaultOfTheSystem(t *testing.T) {
	for _, c := range []struct {
		name    string
		by      map[string]int // what goes wrong, by sender
		severe  bool
		senders []string
		excess  float64
	}{
		{"one agent", map[string]int{"eve": 60}, false, []string{"eve"}, 60},
		{"one agent, and one by chance", map[string]int{"eve": 60, "bob": 1}, false, []string{"eve", "bob"}, 59},
		{"two agents", map[string]int{"eve": 30, "bob": 30}, true, []string{"bob", "eve"}, 0},
		{"one agent hides nobody", map[string]int{"eve": 900, "bob": 20, "ann": 20}, true, []string{"eve", "ann", "bob"}, 860},
		{"a program that operators trust", map[string]int{"user/intake": 60}, true, []string{"user/intake"}, 0},
		{"more than are named", map[string]int{"a": 9, "b": 8, "c": 7, "d": 6, "e": 5, "f": 4}, true, []string{"a", "b", "c", "d", "e"}, 0},
	} {
		for kind, harm := range map[string]struct {
			milder, severe string
			figure         *figure.Instrument
			do             func(r *record, task, sender string, n int)
		}{
			"failed": {"handoff-failure-rate", "handoffs-fail-systemically", figure.FailedExcess, func(r *record, task, sender string, _ int) { r.failsBy(task, sender) }},
			"lost":   {"context-incomplete", "context-lost", figure.LostExcess, func(r *record, task, sender string, n int) { r.losesBy(task, sender, n%2 == 1) }},
		} {
			t.Run(kind+": "+c.name, func(t *testing.T) {
				r := newRecord(t)
				for n := range 20 {
					r.renders(fmt.Sprint("good", n), time.Minute, 1, 0.5)
				}
				for sender, times := range c.by {
					for n := range times {
						harm.do(r, fmt.Sprint(sender, n), sender, n)
					}
				}
				tally := r.tally(figure.Options{})
				got := held(tally, 3*time.Minute)
				if got[harm.severe].Holds != c.severe || !got[harm.milder].Holds || !slices.Equal(got[harm.milder].Senders, c.senders) {
					t.Errorf("%+v\n%+v", got[harm.severe], got[harm.milder])
				}
				if c.severe && !slices.Equal(got[harm.severe].Senders, c.senders) {
					t.Errorf("the severe one names %v", got[harm.severe].Senders)
				}
				for after, want := range map[time.Duration]float64{3 * time.Minute: c.excess, 2 * time.Hour: 0} {
					set := figure.NewSet()
					tally.Excess(set, noon.Add(after))
					for _, p := range set.Points() {
						if p.Instrument == harm.figure && p.Label("severity") == "critical" && p.Value != want {
							t.Errorf("after %s: %s is %g, want %g", after, p.Instrument.Name, p.Value, want)
						}
					}
				}
			})
		}
	}
}

// excessAt are the figures of what the alerts of a severity leave out.
func excessAt(tally *figure.Tally, severity alert.Severity, after time.Duration) map[*figure.Instrument]float64 {
	set, of := figure.NewSet(), map[*figure.Instrument]float64{}
	tally.Excess(set, noon.Add(after))
	for _, p := range set.Points() {
		if p.Label("severity") == string(severity) {
			of[p.Instrument] = p.Value
		}
	}
	return of
}

// sent are handoffs of a sender.
type sent struct {
	sender   string
	good     int
	rejected []string // by receivers
	lost     int      // all references of so many are lost
}

func drawSent(t *rapid.T, sender string, good, bad int) sent {
	return sent{
		sender, rapid.IntRange(0, good).Draw(t, sender+" good"), rapid.SliceOfN(rapid.SampledFrom([]string{"r1", "r2", "r3", "r4"}), 0, bad).Draw(t, sender+" rejected by"),
		rapid.IntRange(0, bad).Draw(t, sender+" lost"),
	}
}

func (r *record) sends(s sent) {
	asked := event.HandoffRequested{By: "agent/" + s.sender}
	name := func(what string, n int) string { return fmt.Sprint(s.sender, "-", what, n) }
	for n := range s.good + s.lost {
		completeness := 1.0
		if n >= s.good {
			completeness = 0
		}
		r.goes(name("good", n), event.Created{}, asked, s.sender, "r1", event.Rendered{Handoff: 1, Offer: 1, Completeness: completeness},
			event.Acknowledged{Handoff: 1, Offer: 1, Agent: "r1"}, event.Confirmed{Handoff: 1, Auto: true}, event.Moved{Handoff: 1, To: "r1", Hop: true})
	}
	for n, to := range s.rejected {
		r.goes(name("bad", n), event.Created{}, asked, s.sender, to, event.RejectedOffer{Handoff: 1, Offer: 1, Agent: to}, event.Returned{Handoff: 1, Outcome: event.Rejected})
	}
}

// TestOneMoreSenderNeitherHidesNorRaises: whatever one more sender sends, it clears no alert that those of all others raise; and none is critical by what it
// alone has go wrong.
func TestOneMoreSenderNeitherHidesNorRaises(t *testing.T) {
	const after = 3 * time.Minute
	severe := []string{"handoffs-fail-systemically", "context-lost"}
	rapid.Check(t, func(rt *rapid.T) {
		before, hidden, raised := newRecord(t), newRecord(t), newRecord(t)
		for n := range rapid.IntRange(1, 4).Draw(rt, "others") {
			s := drawSent(rt, fmt.Sprint("s", n), 20, 5)
			before.sends(s)
			hidden.sends(s)
			raised.sends(sent{sender: s.sender, good: s.good})
		}
		hidden.sends(drawSent(rt, "eve", 120, 20))
		raised.sends(drawSent(rt, "eve", 0, 30))
		all := before.tally(figure.Options{})
		is, now, alone := held(all, after), held(hidden.tally(figure.Options{}), after), held(raised.tally(figure.Options{}), after)
		for name := range is {
			d, _ := alert.Find(name)
			left := excessAt(all, d.Severity, after)
			if d.Apart && left[figure.FailedExcess] == left[figure.EndedExcess] && left[figure.LostExcess] == left[figure.PackedExcess] && !now[name].Holds {
				rt.Errorf("one more sender hides %s", name)
			}
		}
		for _, name := range severe {
			if alone[name].Holds {
				rt.Errorf("one sender raises %s", name)
			}
		}
	})
}

// TestTheSuccessesOfOneHideNobodysFailures: nor do they count when all others are measured.
func TestTheSuccessesOfOneHideNobodysFailures(t *testing.T) {
	r := newRecord(t)
	for n := range 3 {
		r.sends(sent{sender: fmt.Sprint("g", n), good: 7, rejected: []string{"r1", "r2", "r3"}, lost: 3})
	}
	r.sends(sent{sender: "eve", good: 900, rejected: []string{"r4"}})
	tally := r.tally(figure.Options{})
	got := held(tally, 3*time.Minute)
	for name, want := range map[string]float64{"handoffs-fail-systemically": 9.0 / 39, "handoff-failure-rate": 10.0 / 940, "context-lost": 0.7, "context-incomplete": 0.7} {
		if c := got[name]; !c.Holds || math.Abs(c.Value-want) > 1e-9 {
			t.Errorf("%s, want %g: %+v", name, want, c)
		}
	}
	if left := excessAt(tally, alert.Critical, 3*time.Minute); left[figure.FailedExcess] != 1 || left[figure.EndedExcess] != 901 || left[figure.LostExcess] != 0 || left[figure.PackedExcess] != 900 {
		t.Errorf("left out: %v", left)
	}
}

// goes adds a handoff with what its task and the offer are.
func (r *record) goes(task string, created event.Created, asked event.HandoffRequested, from, to string, ends ...event.Event) {
	r.Helper()
	created.Task = task
	asked.Handoff, asked.From, asked.Kind, asked.Reason = 1, from, event.Warm, event.ReasonError
	r.add(task, 2*time.Minute, slices.Concat([]event.Event{
		created,
		asked,
		event.OfferMade{Handoff: 1, Offer: 1, To: []string{to}},
	}, ends)...)
}

// cause is what went wrong with many handoffs.
type cause struct {
	created event.Created
	asked   event.HandoffRequested
	parent  []event.Event // of all tasks; nil: they have none
	from    string        // of all; "": each has another
	answers time.Duration // when the receivers answered, after noon; 0: never
	once    bool          // each of them
	took    time.Duration // how long they had the offers until then
	to      string        // of all; "": each has another
	ends    []event.Event
	alert   string
	severe  bool
	first   string // of the senders that are named
}

// before is when receivers answered that answer nobody any more, after noon.
const before = time.Minute

// causes are a sender, a requester or a receiver.
func causes() map[string]cause {
	hurry := event.Created{Requester: "agent/eve", Timeouts: event.Timeouts{Offer: event.Duration(5 * time.Second)}}
	patient := event.Created{Requester: "agent/eve"}
	spread := []event.Event{event.RejectedOffer{Handoff: 1, Offer: 1}, event.Returned{Handoff: 1, Outcome: event.Rejected}}
	expired := []event.Event{event.OfferExpired{Handoff: 1, Offer: 1}, event.Returned{Handoff: 1, Outcome: event.Expired}}
	refused := []event.Event{event.Seen{Handoff: 1, Offer: 1, Agent: "zoe"}, event.RejectedOffer{Handoff: 1, Offer: 1, Agent: "zoe"}, event.Returned{Handoff: 1, Outcome: event.Rejected}}
	lost := []event.Event{event.Rendered{Handoff: 1, Offer: 1}}
	unanswered := []event.Event{event.Unanswered{Handoff: 1, Offer: 1}, event.Returned{Handoff: 1, Outcome: event.Undeliverable}}
	forgot := func(who string) []event.Event {
		return []event.Event{event.Rendered{Handoff: 1, Offer: 1, Forgotten: []event.Forgotten{{By: "agent/" + who, Share: 1}}}}
	}
	courier := event.HandoffRequested{By: "system/courier"}
	busy := event.Created{Requester: "agent/eve", Timeouts: event.Timeouts{Offer: event.Duration(5 * time.Minute)}}
	soon := event.Timeouts{Ack: event.Duration(5 * time.Second)}
	parent := event.Parent{Task: "parent"}
	mine := func(times event.Timeouts) event.Created { // a child whose requester is the owner of its parent
		return event.Created{Parent: parent, Timeouts: times}
	}
	return map[string]cause{
		"others hand on what must be answered at once":      {created: hurry, ends: expired, alert: "handoffs-fail-systemically", first: "eve"},
		"others hand on, and nobody answers":                {created: patient, ends: expired, alert: "handoffs-fail-systemically", severe: true, first: "s0"},
		"receivers reject what must be answered soon":       {created: hurry, ends: spread, alert: "handoffs-fail-systemically", severe: true, first: "s0"},
		"one receiver rejects everything":                   {created: patient, to: "zoe", ends: refused, alert: "handoffs-fail-systemically", first: "s0"},
		"many send references that lead nowhere":            {created: patient, ends: lost, alert: "context-lost", severe: true, first: "s0"},
		"many hand on what one lost before them, twice":     {created: patient, alert: "context-lost", first: "eve"},
		"many hand on what one forgot":                      {created: patient, ends: forgot("eve"), alert: "context-lost", first: "eve"},
		"one sends what others forgot":                      {created: patient, from: "eve", ends: forgot("ann"), alert: "context-lost", first: "ann"},
		"many hand on what a person erased":                 {created: patient, ends: []event.Event{event.Rendered{Handoff: 1, Offer: 1, Forgotten: []event.Forgotten{{By: "operator/olga", Share: 1}}}}, alert: "context-lost", severe: true, first: "operator/olga"},
		"all receivers of one sender fall silent":           {created: patient, from: "eve", answers: before, ends: expired, alert: "handoffs-fail-systemically", severe: true, first: "eve"},
		"all see what one sends, and hang":                  {created: patient, from: "eve", answers: before, ends: unanswered, alert: "handoffs-fail-systemically", severe: true, first: "eve"},
		"they fell silent more than a week ago":             {created: patient, from: "eve", answers: -8 * 24 * time.Hour, ends: expired, alert: "handoffs-fail-systemically", first: "eve"},
		"they never answered anybody":                       {created: patient, from: "eve", ends: expired, alert: "handoffs-fail-systemically", first: "eve"},
		"they answer others":                                {created: patient, from: "eve", answers: 150 * time.Second, ends: expired, alert: "handoffs-fail-systemically", first: "eve"},
		"one sender gives them no time":                     {created: hurry, from: "eve", answers: before, ends: expired, alert: "handoffs-fail-systemically", first: "eve"},
		"they fall silent, and had half the usual time":     {created: busy, from: "eve", answers: before, ends: expired, alert: "handoffs-fail-systemically", severe: true, first: "eve"},
		"others hand on, in half the usual time":            {created: busy, answers: before, took: 2 * time.Minute, ends: expired, alert: "handoffs-fail-systemically", severe: true, first: "s0"},
		"half the usual time is too little for them":        {created: busy, from: "eve", answers: before, took: 3 * time.Minute, ends: expired, alert: "handoffs-fail-systemically", first: "eve"},
		"nobody knows how much time they take":              {created: busy, from: "eve", answers: before, once: true, ends: expired, alert: "handoffs-fail-systemically", first: "eve"},
		"they see it, and hang, with half the usual time":   {created: busy, from: "eve", answers: before, ends: unanswered, alert: "handoffs-fail-systemically", severe: true, first: "eve"},
		"they hang in half the usual time, and had no time": {created: busy, asked: event.HandoffRequested{Timeouts: soon}, from: "eve", answers: before, ends: unanswered, alert: "handoffs-fail-systemically", first: "eve"},
		"one receiver of one sender falls silent":           {created: patient, from: "eve", answers: before, to: "r0", ends: expired, alert: "handoffs-fail-systemically", first: "eve"},
		"they reject what one sends":                        {created: patient, from: "eve", answers: before, ends: spread, alert: "handoffs-fail-systemically", first: "eve"},
		"they reject the children of one":                   {created: patient, asked: courier, from: "agent/eve", ends: spread, alert: "handoffs-fail-systemically", first: "eve"},
		"they reject the children of many":                  {created: patient, asked: courier, ends: spread, alert: "handoffs-fail-systemically", severe: true, first: "s0"},
		"many delegate what must be answered at once":       {created: mine(hurry.Timeouts), asked: courier, parent: []event.Event{hurry}, answers: before, ends: expired, alert: "handoffs-fail-systemically", first: "eve"},
		"one delegates what must be answered at once":       {created: mine(soon), asked: courier, parent: []event.Event{patient}, from: "eve", answers: before, ends: expired, alert: "handoffs-fail-systemically", first: "eve"},
		"many delegate what one lost before them":           {created: mine(event.Timeouts{}), asked: courier, parent: []event.Event{patient, event.HandoffRequested{Handoff: 1, From: "eve", Kind: event.Warm, Reason: event.ReasonError}, event.Rendered{Handoff: 1, Offer: 1}}, ends: lost, alert: "context-lost", first: "eve"},
		"one sender gives a handoff no time":                {created: patient, asked: event.HandoffRequested{Timeouts: soon}, from: "eve", answers: before, ends: unanswered, alert: "handoffs-fail-systemically", first: "eve"},
		"many give what is hurried the usual time":          {created: hurry, asked: event.HandoffRequested{Timeouts: event.Timeouts{}.WithDefaults()}, ends: expired, alert: "handoffs-fail-systemically", severe: true, first: "s0"},
		"nobody takes what many owners of one lost":         {created: patient, asked: event.HandoffRequested{Recovery: true}, ends: spread, alert: "handoffs-fail-systemically", first: "eve"},
	}
}

// TestTheCauseOfWhatGoesWrongIsToldApart: a sender, a requester or a receiver.
func TestTheCauseOfWhatGoesWrongIsToldApart(t *testing.T) {
	for name, c := range causes() {
		t.Run(name, func(t *testing.T) {
			r := newRecord(t)
			for n := range 20 {
				r.renders(fmt.Sprint("good", n), time.Minute, 1, 0.5)
			}
			for n := range 25 {
				if c.answers != 0 && (n < 5 || !c.once) {
					r.handoff(fmt.Sprint("answered", n), fmt.Sprint("r", n%5), c.answers-c.took, c.took)
				}
			}
			if c.parent != nil {
				r.add("parent", before, c.parent...)
			}
			for n := range 60 {
				from, to := cmp.Or(c.from, fmt.Sprint("s", n%6)), c.to
				if to == "" {
					to = fmt.Sprint("r", n%5)
				}
				ends := c.ends
				if ends == nil {
					ends, from = []event.Event{event.Rendered{Handoff: 1, Offer: 1}, event.HandoffRequested{Handoff: 2, From: from, Kind: event.Warm, Reason: event.ReasonError}, event.Rendered{Handoff: 2, Offer: 1}}, "eve"
				}
				created := c.created
				if c.parent != nil {
					created.Requester = "agent/" + from
				}
				r.goes(fmt.Sprint("t", n), created, c.asked, from, to, ends...)
			}
			got := held(r.tally(figure.Options{}), 3*time.Minute)
			if got[c.alert].Holds != c.severe {
				t.Errorf("%+v", got[c.alert])
			}
			d, _ := alert.Find(c.alert)
			if milder := got[d.Milder]; !milder.Holds || milder.Senders[0] != c.first {
				t.Errorf("%s: %+v", d.Milder, milder)
			}
		})
	}
}

// TestManySendersOfAMinuteTakeBoundedMemory: those beyond the bound count as one, and are not named.
func TestManySendersOfAMinuteTakeBoundedMemory(t *testing.T) {
	r := newRecord(t)
	for n := range 200 {
		r.failsBy(fmt.Sprint("t", n), fmt.Sprintf("a%03d", n))
	}
	c := held(r.tally(figure.Options{}), 3*time.Minute)["handoffs-fail-systemically"]
	if !c.Holds || !slices.Equal(c.Senders, []string{"a000", "a001", "a002", "a003", "a004"}) {
		t.Errorf("%+v", c)
	}
}

// TestFewTasksDoNotMakeHopsRise: four long ones are no trend.
func TestFewTasksDoNotMakeHopsRise(t *testing.T) {
	for n, want := range map[int]bool{4: false, 5: true} {
		r := newRecord(t)
		for n := range 40 {
			r.ends(fmt.Sprint("t", n), time.Duration(n)*10*time.Minute, 1)
		}
		if want {
			r.endsOf("ann", "short", 8*time.Hour, 1)
		}
		for n := range n {
			r.endsOf("eve", fmt.Sprint("long", n), 8*time.Hour, 6)
		}
		c := held(r.tally(figure.Options{}), 8*time.Hour+20*time.Minute)["hops-rise"]
		if c.Holds != want || want && !slices.Equal(c.Senders, []string{"eve"}) {
			t.Errorf("%d: %+v", n, c)
		}
	}
}
