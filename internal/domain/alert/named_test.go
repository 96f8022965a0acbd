package alert_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/alert"
)

// caused is a condition of an agent that principals cause.
func caused(name, agent string, by ...string) alert.Condition {
	c := holds(name, agent)
	c.Causes = by
	return c
}

// own lists the agents that have an alert of a name.
func own(s alert.State, name string) (list []string) {
	for _, a := range s.Alerts {
		if a.Name == name && a.Agent != alert.Other {
			list = append(list, a.Agent)
		}
	}
	return list
}

// TestNoPrincipalDecidesByManyConditionsWhoIsNamed: the flood comes first and in the order of names, and part of it is that the agent which others
// make wait gets something of the flood, too.
func TestNoPrincipalDecidesByManyConditionsWhoIsNamed(t *testing.T) {
	for _, name := range []string{"inbox-old", "circuit-open", "agent-fails"} {
		var flood []alert.Condition
		for n := range 100 {
			flood = append(flood, caused(name, fmt.Sprintf("a%03d", n), "eve"))
		}
		waits := []alert.Condition{caused(name, "zeta", "eve", "lead"), caused(name, "zulu", "lead"), caused(name, "zyx")}
		for _, c := range []struct {
			when        string
			first, then []alert.Condition
		}{{"at once", slices.Concat(flood, waits), nil}, {"later", flood, slices.Concat(flood, waits)}} {
			w := newWire(t)
			w.Do(judge(c.first...), slices.Repeat([]string{"alert-raised"}, alert.MaxOfCause+1+3*min(len(c.first)-len(flood), 1))...)
			if c.then != nil {
				w.Do(judge(c.then...), "alert-raised", "alert-raised", "alert-raised")
			}
			if got := own(w.State, name); len(got) != alert.MaxOfCause+3 || !slices.Equal(got[len(got)-3:], []string{"zeta", "zulu", "zyx"}) {
				t.Errorf("%s, %s: %q have alerts of their own", name, c.when, got)
			}
			others, ok := w.State.Find(alert.Key{Name: name, Agent: alert.Other})
			if !ok || others.Number != 90 || len(others.Agents) != alert.MaxNamed || others.Agents[0] != "a010" {
				t.Errorf("%s, %s: %v %+v", name, c.when, ok, others)
			}
		}
	}
}

// TestTheAlertOfTheOthersNamesThemInTurn: those of one principal do not fill its names either.
func TestTheAlertOfTheOthersNamesThemInTurn(t *testing.T) {
	var all []alert.Condition
	for n := range 200 {
		all = append(all, caused("inbox-old", fmt.Sprintf("a%03d", n), "eve"))
	}
	for n := range 30 {
		all = append(all, caused("inbox-old", fmt.Sprintf("z%03d", n), "lead"))
	}
	w := newWire(t)
	w.Do(judge(all...), slices.Repeat([]string{"alert-raised"}, alert.MaxAgents+1)...)
	others, _ := w.State.Find(alert.Key{Name: "inbox-old", Agent: alert.Other})
	of := len(slices.DeleteFunc(slices.Clone(others.Agents), func(name string) bool { return !strings.HasPrefix(name, "z") }))
	if got := own(w.State, "inbox-old"); len(got) != alert.MaxAgents || others.Number != 210 || of != 20 {
		t.Errorf("%q have alerts of their own; %d of %d are the lead's: %q", got, of, others.Number, others.Agents)
	}
	if shown := alert.Named(w.State, judge(all...)); len(shown) != alert.MaxAgents+1 || shown[alert.MaxAgents].Number != 210 {
		t.Errorf("%d are shown", len(shown))
	}
	all = append(all, caused("inbox-old", "", "eve"))
	w.Do(judge(all...), "alert-raised") // the inbox of the operators is always named
	if _, ok := w.State.Find(alert.Key{Name: "inbox-old"}); !ok {
		t.Error("the inbox of the operators is not named")
	}
}

func TestTheAlertsOfAnArchivedWorkspaceEndAtOnce(t *testing.T) {
	w := newWire(t)
	w.Do(judge(holds("inbox-old", "coder"), holds("dead-letters", "")), "alert-raised", "alert-raised")
	archived := judge(holds("inbox-old", "coder"), holds("dead-letters", ""), holds("ticket-old", ""))
	archived.Archived = true
	for _, e := range w.Do(archived, "alert-recovered", "alert-recovered") {
		if e := e.(alert.Recovered); !e.Archived || !e.Notified || e.Off {
			t.Errorf("%+v", e)
		}
	}
	if w.Do(archived); len(w.State.Alerts) != 0 || len(w.State.Past) != 2 || !w.State.Past[0].Archived {
		t.Errorf("%+v", w.State)
	}
	w.Now = w.Now.Add(time.Hour)
	w.Do(judge(holds("inbox-old", "coder")), "alert-raised") // it is restored, and it holds
}
