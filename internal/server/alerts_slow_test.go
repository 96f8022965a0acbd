//go:build slow

package server

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
)

func TestAlertsAreTheSameAfterAServerWasKilled(t *testing.T) {
	t.Parallel()
	clock := NewClock(time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC))
	w := newWatchdog(t, Config{DataDir: t.TempDir(), Clock: clock})
	coder := w.agent("coder")
	w.fails("coder", coder)
	before, names := w.raised(), w.recorded()
	dir := snapshot(t, w.s.config.DataDir)
	again := newWatchdog(t, Config{DataDir: dir, Clock: NewClock(clock.Now())})
	if err := again.s.judge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := again.raised(); len(before) < 3 || !reflect.DeepEqual(before, after) {
		t.Errorf("before: %+v\nafter: %+v", before, after)
	}
	if got := again.recorded(); !slices.Equal(got, names) {
		t.Errorf("recorded %q, before %q", got, names)
	}
}

func TestWhatFailedWhileTheServerWasAwayIsRaisedAtItsStart(t *testing.T) {
	t.Parallel()
	clock := NewClock(time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC))
	w := newWatchdog(t, Config{DataDir: t.TempDir(), Clock: clock})
	w.agent("coder")
	task, err := w.boss.CreateTask(w.Context(), client.CreateInput{Intent: "work", Send: &client.SendInput{To: []string{"coder"}, Retries: new(int)}})
	if err != nil {
		t.Fatal(err)
	}
	_ = task
	dir := snapshot(t, w.s.config.DataDir)
	again := newWatchdog(t, Config{DataDir: dir, Clock: NewClock(clock.Now().Add(2 * time.Hour))})
	again.advance(time.Second) // the offer expired long ago
	if _, ok := again.raised()["handoff-failed"]; !ok {
		t.Errorf("%+v", again.raised())
	}
}

func TestManyAgentsThatFailMakeABoundedNumberOfAlertsAndEntries(t *testing.T) {
	t.Parallel()
	w := newWatchdog(t, Config{})
	var all, senders []*client.Client
	for n := range 3 {
		senders = append(senders, w.agent(fmt.Sprint("sender", n)))
	}
	for n := range 25 {
		name := fmt.Sprint("a", n)
		all = append(all, w.agent(name))
		if _, err := w.boss.RegisterAgent(w.Context(), name, client.AgentSpec{MaxTasks: 9}); err != nil { // it sees more than one offer at a time
			t.Fatal(err)
		}
		for _, sender := range senders {
			if _, err := sender.CreateTask(w.Context(), client.CreateInput{Intent: "work", Send: &client.SendInput{To: []string{name}, Retries: new(int)}}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := all[n].Inbox(w.Context(), client.InboxOptions{See: true}); err != nil {
			t.Fatal(err)
		}
	}
	w.advance(20 * time.Second)
	count := 0
	raised := w.raised()
	for id := range raised {
		if strings.HasPrefix(id, "circuit-open:") {
			count++
		}
	}
	if _, others := raised["circuit-open:.others"]; count != 21 || !others {
		t.Errorf("%d alerts: %+v", count, raised)
	}
}

func TestTheCircuitsOfAnAgentHaveOneAlertTogether(t *testing.T) {
	t.Parallel()
	w := newWatchdog(t, Config{})
	coder, one, other := w.agent("coder"), w.agent("one"), w.agent("other")
	for range 3 { // the circuit between the two opens
		w.ignored("coder", coder, one)
	}
	a, ok := w.raised()["circuit-open:coder"]
	if shown, err := w.boss.Agent(w.Context(), "coder"); !ok || err != nil || shown.Circuit.State != "closed" || a.Value != 1 || len(a.Handoffs) != 3 || a.Severity != "critical" || !slices.Equal(a.Senders, []string{"one"}) {
		t.Fatalf("%v, %+v: %+v", err, shown.Circuit, a)
	}
	if text := scrape(t, w.s); !strings.Contains(text, `trapeze_circuits{scope="pair",state="open",workspace="default"} 1`) || !strings.Contains(text, `trapeze_circuits{scope="shared",state="open",workspace="default"} 0`) {
		t.Errorf("the figures:\n%s", text)
	}
	w.ignored("coder", coder, other) // and that of all senders
	if shown, err := w.boss.Agent(w.Context(), "coder"); err != nil || shown.Circuit.State != "open" {
		t.Fatalf("%v, %+v", err, shown.Circuit)
	}
	if again := w.raised()["circuit-open:coder"]; !again.Raised.Equal(*a.Raised) {
		t.Errorf("raised again: %+v", again)
	}
	if names := strings.Join(w.recorded(), " "); strings.Contains(names, "recovered") {
		t.Errorf("recorded %s", names)
	}
	w.advance(5 * time.Minute) // an open circuit is an alert until a probe has succeeded
	if _, ok := w.raised()["circuit-open:coder"]; !ok {
		t.Errorf("%+v", w.raised())
	}
	if _, err := w.boss.ResetCircuit(w.Context(), "coder"); err != nil {
		t.Fatal(err)
	}
	w.advance(time.Minute)
	if a, ok := w.raised()["circuit-open:coder"]; ok {
		t.Errorf("%+v", a)
	}
}

// snapshot copies the files of a data directory, as a crash would leave them.
func snapshot(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return filepath.Clean(to)
}

// TestAlertsAreJudgedAsTimePassesOnAClockThatCanBeMoved: nobody moves the clock of the second server, which finds a failure in the record when it starts.
func TestAlertsAreJudgedAsTimePassesOnAClockThatCanBeMoved(t *testing.T) {
	t.Parallel()
	w := newWatchdog(t, Config{DataDir: t.TempDir(), Clock: NewClock(time.Now())})
	coder := w.agent("coder")
	created, err := w.boss.CreateTask(w.Context(), client.CreateInput{Intent: "work", Send: &client.SendInput{To: []string{"coder"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := coder.Reject(w.Context(), created.Handoff, client.RejectInput{Reason: client.NotCapable}); err != nil {
		t.Fatal(err)
	}
	again := newWatchdog(t, Config{DataDir: snapshot(t, w.s.config.DataDir), Clock: NewClock(time.Time{})})
	late := time.After(time.Minute)
	for _, ok := again.raised()["handoff-failed"]; !ok; _, ok = again.raised()["handoff-failed"] {
		select {
		case <-late:
			t.Fatal("it is not raised")
		case <-time.After(10 * time.Millisecond): // between two looks
		}
	}
	if got := w.recorded(); len(got) != 0 {
		t.Errorf("a clock that stands: %q", got)
	}
}
