package alert_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/alert"
)

const (
	milder  = "handoff-failure-rate"
	severer = "handoffs-fail-systemically"
)

func notified(s *alert.State, name string) bool {
	a, ok := s.Find(alert.Key{Name: name})
	return ok && a.Notified
}

func TestPeopleAreNotifiedOfTheSevererOfTwoAlertsOfAFigure(t *testing.T) {
	w := newWire(t)
	both := w.Do(judge(holds(milder, ""), holds(severer, "")), "alert-raised", "alert-raised")
	if e := both[1].(alert.Raised); e.Name != milder || e.Within != severer || notified(&w.State, milder) || !notified(&w.State, severer) {
		t.Errorf("%+v", both)
	}
	w.Now = w.Now.Add(alert.Least)
	if e := w.Do(judge(holds(milder, "")), "alert-recovered")[0].(alert.Recovered); e.Name != severer || !e.Notified || e.Remains != milder {
		t.Errorf("%+v", e)
	}
	if !notified(&w.State, milder) { // by the notice of the recovery
		t.Errorf("%+v", w.State)
	}
	w.Do(judge(holds(milder, ""))) // nothing new
	w.Now = w.Now.Add(alert.Least)
	if e := w.Do(judge(), "alert-recovered")[0].(alert.Recovered); e.Name != milder || !e.Notified || e.Remains != "" {
		t.Errorf("%+v", e)
	}
}

func TestTwoAlertsOfAFigureThatEndTogetherHaveOneNotice(t *testing.T) {
	w := newWire(t)
	w.Do(judge(holds(milder, ""), holds(severer, "")), "alert-raised", "alert-raised")
	w.Now = w.Now.Add(alert.Least)
	for _, e := range w.Do(judge(), "alert-recovered", "alert-recovered") {
		if e := e.(alert.Recovered); e.Remains != "" || e.Notified != (e.Name == severer) {
			t.Errorf("%+v", e)
		}
	}
}

func TestAnAlertThatGetsWorseIsNotifiedAgain(t *testing.T) {
	w := newWire(t)
	w.Do(judge(holds(milder, "")), "alert-raised")
	w.Now = w.Now.Add(time.Minute)
	if e := w.Do(judge(holds(milder, ""), holds(severer, "")), "alert-raised")[0].(alert.Raised); e.Within != "" || !notified(&w.State, milder) || !notified(&w.State, severer) {
		t.Errorf("%+v, %+v", e, w.State)
	}
	if got := w.State.Within(alert.Key{Name: milder}); got != severer {
		t.Errorf("it has become severer, and is within %q", got)
	}
	w.Now = w.Now.Add(alert.Least)
	for _, e := range w.Do(judge(), "alert-recovered", "alert-recovered") { // people wait for the end of both
		if e := e.(alert.Recovered); !e.Notified || e.Remains != "" {
			t.Errorf("%+v", e)
		}
	}
	if past := w.State.Past; past[0].Within != "" || past[1].Name != milder || past[1].Within != severer {
		t.Errorf("the milder one ended within the severer: %+v", past)
	}
}

func TestASilencedAlertContainsNoMilderOne(t *testing.T) {
	w := newWire(t)
	w.Do(alert.Silence{By: operator, Alert: alert.Key{Name: severer}, Reason: "known", For: time.Hour}, "alert-silenced")
	w.Do(judge(holds(milder, ""), holds(severer, "")), "alert-raised", "alert-raised")
	if notified(&w.State, severer) || !notified(&w.State, milder) {
		t.Errorf("%+v", w.State)
	}
	w.Now = w.Now.Add(alert.Least)
	if e := w.Do(judge(holds(milder, "")), "alert-recovered")[0].(alert.Recovered); e.Notified || e.Remains != "" {
		t.Errorf("%+v", e)
	}
}

func TestARecoveryDuringASilenceIsNotifiedOnlyIfAMilderAlertRemains(t *testing.T) {
	for _, remains := range []bool{false, true} {
		w := newWire(t)
		w.Do(judge(holds(milder, ""), holds(severer, "")), "alert-raised", "alert-raised")
		w.Do(alert.Silence{By: operator, Alert: alert.Key{Name: severer}, Reason: "known", For: time.Hour}, "alert-silenced")
		w.Now = w.Now.Add(alert.Least)
		left, want := []alert.Condition{}, []string{"alert-recovered", "alert-recovered"}
		if remains {
			left, want = []alert.Condition{holds(milder, "")}, want[:1]
		}
		for _, e := range w.Do(judge(left...), want...) {
			if e := e.(alert.Recovered); e.Notified != remains || (e.Remains != "") != remains {
				t.Errorf("the milder one remains: %v: %+v", remains, e)
			}
		}
		if notified(&w.State, milder) != remains {
			t.Errorf("the milder one remains: %v: %+v", remains, w.State)
		}
	}
}

func TestTheEndOfTheSilenceOfAMilderAlertNotifiesOnlyIfNoSevererOneDid(t *testing.T) {
	for _, with := range [][]alert.Condition{{holds(milder, "")}, {holds(milder, ""), holds(severer, "")}} {
		w := newWire(t)
		w.Do(alert.Silence{By: operator, Alert: alert.Key{Name: milder}, Reason: "known", For: time.Minute}, "alert-silenced")
		names := []string{"alert-raised", "alert-raised"}[:len(with)]
		w.Do(judge(with...), names...)
		w.Now = w.Now.Add(time.Minute)
		if e := w.Do(judge(with...), "alert-silence-ended")[0].(alert.SilenceEnded); len(e.Notified) != 2-len(with) {
			t.Errorf("with %d alerts: %+v", len(with), e)
		}
	}
}

// TestTheNamesOfWhatContainsAnAlertAreFrozen: the fields are younger than the examples in testdata, and absent where there is nothing to say.
func TestTheNamesOfWhatContainsAnAlertAreFrozen(t *testing.T) {
	for want, e := range map[string]alert.Event{
		`,"within":"handoffs-fail-systemically"}`: alert.Raised{Within: severer},
		`,"remains":"handoff-failure-rate"}`:      alert.Recovered{Remains: milder},
		`,"off":true}`:                            alert.Recovered{Off: true},
		`,"recovered":[{"name":"agent-fails"}]}`:  alert.SilenceEnded{Recovered: []alert.Key{{Name: "agent-fails"}}},
	} {
		if got, err := json.Marshal(e); err != nil || !strings.HasSuffix(string(got), want) {
			t.Errorf("%s, %v; want %s at the end", got, err, want)
		}
	}
}
