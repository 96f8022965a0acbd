package alert_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/ruletest"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
)

var (
	update = flag.Bool("update", false, "write the frozen events again; only for events that were never released")

	noon     = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	operator = identity.Principal{Role: identity.Operator, Name: "olga"}
)

type wire struct {
	*ruletest.Stream[alert.State, alert.Command, alert.Event]
}

func newWire(t testing.TB) wire {
	return wire{&ruletest.Stream[alert.State, alert.Command, alert.Event]{TB: t, Decide: alert.Decide, Fold: alert.Fold, Now: noon}}
}

// judge is the command for conditions of alerts with the default definitions, all of which are measured.
func judge(conditions ...alert.Condition) alert.Judge {
	return alert.Judge{Measured: alert.Definitions(), Conditions: conditions}
}

func holds(name, agent string) alert.Condition {
	return alert.Condition{Key: alert.Key{Name: name, Agent: agent}, Value: 7, Since: noon.Add(-time.Minute), Holds: true, Handoffs: []string{"t1.h1"}}
}

func TestAnAlertIsRaisedOnceAndRecoversWhenItNoLongerHolds(t *testing.T) {
	w := newWire(t)
	w.Do(judge())
	raised := w.Do(judge(holds("circuit-open", "coder")), "alert-raised")[0].(alert.Raised)
	if raised.Severity != alert.Critical || raised.Figure != "trapeze.circuits" || raised.Value != 7 || !raised.Since.Equal(noon.Add(-time.Minute)) || len(raised.Handoffs) != 1 {
		t.Errorf("%+v", raised)
	}
	w.Do(judge(holds("circuit-open", "coder"))) // a second server, or the same after a restart
	w.Do(judge(holds("circuit-open", "coder"), holds("circuit-open", "tester")), "alert-raised")
	w.Now = noon.Add(alert.Least - 1)
	w.Do(judge(holds("circuit-open", "tester")))
	w.Now = noon.Add(alert.Least)
	w.Do(judge(holds("circuit-open", "tester")), "alert-recovered")
	w.Do(alert.Judge{}) // nothing could be measured
	w.Do(judge(), "alert-recovered")
	if len(w.State.Alerts) != 0 || len(w.State.Past) != 2 || w.State.Past[0].Agent != "tester" || w.State.Past[0].Recovered.IsZero() {
		t.Errorf("%+v", w.State)
	}
}

func TestAnAlertWhoseDefinitionIsGoneRecovers(t *testing.T) {
	w := newWire(t)
	w.State = alert.Fold(w.State, alert.Raised{Key: alert.Key{Name: "of-another-version"}, At: noon})
	w.Now = noon.Add(alert.Least)
	w.Do(judge(), "alert-recovered")
}

func TestAnAlertThatThePolicySwitchesOffEndsAtOnceWithTheReason(t *testing.T) {
	w := newWire(t)
	w.Do(judge(holds("agent-fails", "coder"), holds("dead-letters", "")), "alert-raised", "alert-raised")
	c := judge(holds("dead-letters", ""))
	c.Measured, c.Off = slices.DeleteFunc(c.Measured, func(d alert.Definition) bool { return d.Name == "agent-fails" }), []string{"agent-fails"}
	if e := w.Do(c, "alert-recovered")[0].(alert.Recovered); e.Name != "agent-fails" || !e.Off || !e.Notified {
		t.Errorf("%+v", e)
	}
	if len(w.State.Past) != 1 || !w.State.Past[0].Off {
		t.Errorf("%+v", w.State.Past)
	}
	w.Do(judge(holds("agent-fails", "coder"), holds("dead-letters", "")), "alert-raised") // it is on again, and it holds
	w.Now = w.Now.Add(alert.Least)
	if e := w.Do(judge(holds("dead-letters", "")), "alert-recovered")[0].(alert.Recovered); e.Off {
		t.Errorf("%+v", e)
	}
}

func TestWhatFailedWhileNoServerRanIsRaisedOnce(t *testing.T) {
	w := newWire(t)
	past := alert.Condition{Key: alert.Key{Name: "handoff-failed"}, Value: 1, Since: noon.Add(-time.Hour), Newest: noon.Add(-time.Hour)}
	w.Do(judge(past), "alert-raised")
	w.Do(judge(past))
	w.Now = w.Now.Add(alert.Least)
	later := past
	later.Newest = noon.Add(time.Minute) // one more, while it was raised
	w.Do(judge(later), "alert-recovered")
	w.Do(judge(later))
	later.Newest = w.Now
	later.Holds = true
	w.Do(judge(later), "alert-raised")
}

func TestManyAgentsThatFailHaveABoundedNumberOfAlerts(t *testing.T) {
	w := newWire(t)
	var all []alert.Condition
	for n := range 500 {
		all = append(all, holds("agent-fails", fmt.Sprintf("a%03d", n)))
	}
	w.Do(judge(all...), slices.Repeat([]string{"alert-raised"}, alert.MaxAgents+1)...)
	w.Do(judge(all[300:]...)) // others fail now
	if a, ok := w.State.Find(alert.Key{Name: "agent-fails", Agent: alert.Other}); !ok || len(a.Handoffs) != alert.MaxHandoffs || len(w.State.Alerts) != alert.MaxAgents+1 {
		t.Errorf("%+v", w.State.Alerts)
	}
	w.Now = w.Now.Add(alert.Least)
	want := slices.Concat(slices.Repeat([]string{"alert-recovered"}, alert.MaxAgents), slices.Repeat([]string{"alert-raised"}, alert.MaxAgents))
	w.Do(judge(all[300:]...), want...) // the alert of the others still holds
	w.Do(judge(all[300:302]...), "alert-recovered")
}

func TestASilencedAlertIsRecordedAndNobodyIsNotified(t *testing.T) {
	w := newWire(t)
	key := alert.Key{Name: "agent-fails", Agent: "coder"}
	w.Do(alert.Silence{By: operator, Alert: alert.Key{Name: "agent-fails"}, Reason: "we know", For: time.Hour}, "alert-silenced")
	if e := w.Do(judge(holds("agent-fails", "coder")), "alert-raised")[0].(alert.Raised); !e.Silenced {
		t.Errorf("%+v", e)
	}
	w.Do(alert.Silence{By: operator, Alert: key, Reason: "for long", For: 2 * time.Hour}, "alert-silenced")
	if e := w.Do(alert.EndSilence{By: operator, ID: "s1"}, "alert-silence-ended")[0].(alert.SilenceEnded); e.By != "operator/olga" || len(e.Notified) != 0 {
		t.Errorf("another silence still covers it: %+v", e)
	}
	w.Now = w.Now.Add(2*time.Hour - 1)
	w.Do(judge(holds("agent-fails", "coder")))
	w.Now = w.Now.Add(1)
	if e := w.Do(judge(holds("agent-fails", "coder")), "alert-silence-ended")[0].(alert.SilenceEnded); e.By != "" || !slices.Equal(e.Notified, []alert.Key{key}) {
		t.Errorf("its time is over: %+v", e)
	}
	// Of what people had heard before, they hear again: during the silence they heard nothing.
	w.Do(alert.Silence{By: operator, Alert: key, Reason: "being repaired", For: time.Hour}, "alert-silenced")
	if e := w.Do(alert.EndSilence{By: operator, ID: "s3"}, "alert-silence-ended")[0].(alert.SilenceEnded); !slices.Equal(e.Notified, []alert.Key{key}) {
		t.Errorf("it still holds: %+v", e)
	}
	if e := w.Do(judge(), "alert-recovered")[0].(alert.Recovered); !e.Notified {
		t.Errorf("people heard of it: %+v", e)
	}
	w.Do(judge(holds("agent-fails", "coder")), "alert-raised")
	w.Do(alert.Silence{By: operator, Alert: key, Reason: "being repaired", For: time.Hour}, "alert-silenced")
	w.Now = w.Now.Add(alert.Least)
	if e := w.Do(judge(), "alert-recovered")[0].(alert.Recovered); e.Notified {
		t.Errorf("it is silenced: %+v", e)
	}
	w.Refused(alert.EndSilence{By: operator, ID: "s1"}, refusal.NotFound)
}

// TestTheEndOfASilenceTellsOnceWhatRecoveredDuringIt: of what people were notified of before, and of nothing else.
func TestTheEndOfASilenceTellsOnceWhatRecoveredDuringIt(t *testing.T) {
	heard, unheard, again := alert.Key{Name: "agent-fails", Agent: "coder"}, alert.Key{Name: "agent-fails", Agent: "tester"}, alert.Key{Name: "agent-fails", Agent: "lead"}
	w := newWire(t)
	quiet := func(of alert.Key, lasts time.Duration) {
		w.Do(alert.Silence{By: operator, Alert: of, Reason: "being repaired", For: lasts}, "alert-silenced")
	}
	w.Do(judge(holds(heard.Name, heard.Agent), holds(again.Name, again.Agent)), "alert-raised", "alert-raised")
	quiet(alert.Key{Name: heard.Name}, time.Hour)
	w.Do(judge(holds(heard.Name, heard.Agent), holds(again.Name, again.Agent), holds(unheard.Name, unheard.Agent)), "alert-raised")
	w.Now = w.Now.Add(alert.Least)
	w.Do(judge(), "alert-recovered", "alert-recovered", "alert-recovered")
	w.Do(judge(holds(again.Name, again.Agent)), "alert-raised")
	quiet(heard, 24*time.Hour)
	ended := func(e alert.Event, recovered, notified []alert.Key) {
		t.Helper()
		if e := e.(alert.SilenceEnded); !slices.Equal(e.Recovered, recovered) || !slices.Equal(e.Notified, notified) {
			t.Errorf("recovered: %v, raised: %v; want %v and %v", e.Recovered, e.Notified, recovered, notified)
		}
	}
	w.Now = w.Now.Add(time.Hour)
	ended(w.Do(judge(holds(again.Name, again.Agent)), "alert-silence-ended")[0], nil, []alert.Key{again}) // the other silence still covers one
	others := func() {
		var list []alert.Condition
		for n := range alert.MaxAgents {
			list = append(list, holds("circuit-open", fmt.Sprint("a", n)))
		}
		w.Do(judge(append(list, holds(again.Name, again.Agent))...), slices.Repeat([]string{"alert-raised"}, len(list))...)
		w.Now = w.Now.Add(alert.Least)
		w.Do(judge(holds(again.Name, again.Agent)), slices.Repeat([]string{"alert-recovered"}, len(list))...)
	}
	for range alert.MaxPast/alert.MaxAgents + 1 {
		others()
	}
	for i, recovered := range [][]alert.Key{{heard}, nil} {
		ended(w.Do(alert.EndSilence{By: operator, ID: fmt.Sprint("s", 2+i)}, "alert-silence-ended")[0], recovered, nil)
		quiet(heard, time.Hour)
	}
	others()
	if n := len(w.State.Past); n != alert.MaxPast {
		t.Errorf("%d alerts that recovered are remembered", n)
	}
}

// TestOfAnAlertThatIsRaisedAgainDuringASilencePeopleHearTheEnd: also if it was raised often meanwhile, they hear once how it stands at the end of the silence.
func TestOfAnAlertThatIsRaisedAgainDuringASilencePeopleHearTheEnd(t *testing.T) {
	key := alert.Key{Name: "agent-fails", Agent: "coder"}
	for _, test := range []struct {
		heard, raised bool // before the silence, and at its end
		again         int  // how often it is raised during the silence
	}{{true, false, 1}, {true, false, 3}, {true, true, 1}, {true, true, 2}, {false, false, 2}, {false, true, 2}} {
		w := newWire(t)
		there := judge(holds(key.Name, key.Agent))
		if test.heard {
			w.Do(there, "alert-raised")
		}
		w.Do(alert.Silence{By: operator, Alert: key, Reason: "being repaired", For: time.Hour}, "alert-silenced")
		over := func() {
			w.Now = w.Now.Add(alert.Least)
			if e := w.Do(judge(), "alert-recovered")[0].(alert.Recovered); e.Notified {
				t.Errorf("%+v: it is silenced: %+v", test, e)
			}
		}
		if test.heard {
			over()
		}
		for n := range test.again {
			w.Do(there, "alert-raised")
			if n < test.again-1 || !test.raised {
				over()
			}
		}
		var recovered, raised []alert.Key
		switch {
		case test.raised:
			raised = []alert.Key{key}
		case test.heard:
			recovered = []alert.Key{key}
		}
		e := w.Do(alert.EndSilence{By: operator, ID: "s1"}, "alert-silence-ended")[0].(alert.SilenceEnded)
		if !slices.Equal(e.Recovered, recovered) || !slices.Equal(e.Notified, raised) {
			t.Errorf("%+v: recovered: %v, raised: %v", test, e.Recovered, e.Notified)
		}
		if test.raised {
			w.Now = w.Now.Add(alert.Least)
			if e := w.Do(judge(), "alert-recovered")[0].(alert.Recovered); !e.Notified {
				t.Errorf("%+v: people heard of it: %+v", test, e)
			}
		}
	}
}

func TestOnlyOperatorsSilenceWithAReasonForATime(t *testing.T) {
	w := newWire(t)
	quiet := func(change func(*alert.Silence)) alert.Silence {
		q := alert.Silence{By: operator, Alert: alert.Key{Name: "agent-fails", Agent: "coder"}, Reason: "we know", For: time.Hour}
		change(&q)
		return q
	}
	for _, c := range []struct {
		code   refusal.Code
		change func(*alert.Silence)
	}{
		{refusal.Unauthenticated, func(q *alert.Silence) { q.By = identity.Principal{} }},
		{refusal.NotPermitted, func(q *alert.Silence) { q.By = identity.Principal{Role: identity.Agent, Name: "coder"} }},
		{refusal.NotPermitted, func(q *alert.Silence) { q.By = identity.Principal{Role: identity.Auditor, Name: "ada"} }},
		{refusal.NotFound, func(q *alert.Silence) { q.Alert.Name = "agent-sleeps" }},
		{refusal.Invalid, func(q *alert.Silence) { q.Alert.Name = "handoff-failed" }},
		{refusal.Invalid, func(q *alert.Silence) { q.Alert.Agent = "A B" }},
		{refusal.Invalid, func(q *alert.Silence) { q.Reason = " " }},
		{refusal.Invalid, func(q *alert.Silence) { q.Reason = "a\u202eb" }},
		{refusal.TooLarge, func(q *alert.Silence) { q.Reason = strings.Repeat("x", alert.MaxReason+1) }},
		{refusal.Invalid, func(q *alert.Silence) { q.For = 0 }},
		{refusal.Invalid, func(q *alert.Silence) { q.For = alert.MaxSilence + 1 }},
	} {
		if r := w.Refused(quiet(c.change), c.code); strings.Contains(r.Message, "description") {
			t.Errorf("a silence has none: %s", r.Message)
		}
	}
	w.Refused(alert.EndSilence{By: identity.Principal{Role: identity.Agent, Name: "coder"}, ID: "s1"}, refusal.NotPermitted)
	w.Do(quiet(func(*alert.Silence) {}), "alert-silenced")
	w.Refused(quiet(func(*alert.Silence) {}), refusal.Conflict)
	for n := 1; n < alert.MaxSilences; n++ {
		w.Do(quiet(func(q *alert.Silence) { q.Alert.Agent = fmt.Sprint("a", n) }), "alert-silenced")
	}
	w.Refused(quiet(func(q *alert.Silence) { q.Alert.Agent = "" }), refusal.Limit)
}

func TestDefinitionsSayWhatIsWrongAndWhatToDo(t *testing.T) {
	names := map[string]bool{}
	for _, d := range alert.Definitions() {
		if names[d.Name] || !strings.HasSuffix(d.Meaning(), ".") || strings.Contains(d.Meaning(), "{") || !strings.HasSuffix(d.Do(), ".") || !alert.Severities.Has(d.Severity) {
			t.Errorf("%+v", d)
		}
		if d.Lowest > d.Threshold || d.Threshold > d.Highest || (d.Window > 0) == (d.Measure == alert.Present) || (d.Measure == alert.Share) != (d.Of != "") {
			t.Errorf("%+v", d)
		}
		for _, agent := range []string{"", "coder", "-x", alert.Other} {
			for _, handoffs := range [][]string{nil, {"t1.h1", "t2.h3"}} {
				if c := d.Command(agent, handoffs); !strings.HasPrefix(c, "trapeze ") || strings.Contains(c, alert.Other) {
					t.Errorf("%s: %s", d.Name, c)
				}
			}
		}
		names[d.Name] = true
	}
	d, _ := alert.Find("handoff-failure-rate")
	if got := d.Meaning(); got != "More than 0.5 % of the handoffs of the last hour failed: 2 or more, of 20 or more that ended. Of all, or of those of all senders but one agent." || d.Prometheus() != "TrapezeHandoffFailureRate" {
		t.Errorf("%q, %s", got, d.Prometheus())
	}
}

func TestTheJSONOfEventsIsFrozen(t *testing.T) {
	key := alert.Key{Name: "agent-fails", Agent: "coder"}
	ledgertest.Frozen(t, *update, alert.Events, []alert.Event{
		alert.Raised{
			Key: key, Severity: alert.Warning, Figure: "trapeze.agent.failures", Value: 3, Threshold: 2.5, Window: "1h0m0s", Since: noon.Add(-time.Minute), At: noon,
			Newest: noon, Handoffs: []string{"t1.h1"}, Silenced: true,
		},
		alert.Recovered{Key: key, At: noon, Notified: true, Newest: noon},
		alert.Silenced{ID: "s1", Alert: key, Reason: "a <test>", By: "operator/olga", At: noon, Until: noon.Add(time.Hour)},
		alert.SilenceEnded{ID: "s1", By: "operator/olga", At: noon, Notified: []alert.Key{key}},
	})
}
