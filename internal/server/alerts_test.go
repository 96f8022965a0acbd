package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
)

// watchdog is a server whose clock stands, its administrator, and the agents of a story about alerts.
type watchdog struct {
	*testing.T
	s     *Server
	admin admin.Client
	boss  *client.Client
}

func newWatchdog(t *testing.T, c Config) *watchdog {
	t.Helper()
	if c.Clock == nil {
		c.Clock = NewClock(time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC))
	}
	if c.DataDir == "" {
		c.Temporary = true
	} else {
		c.Addr = "127.0.0.1:0"
	}
	s, boss := forTests(t, c)
	return &watchdog{t, s, admin.New(boss), boss}
}

// agent registers an agent, with a client of its own.
func (w *watchdog) agent(name string) *client.Client {
	w.Helper()
	if _, err := w.boss.RegisterAgent(w.Context(), name, client.AgentSpec{}); err != nil {
		w.Fatal(err)
	}
	token, err := w.boss.CreateToken(w.Context(), client.TokenInput{Role: "agent", Name: name})
	if err != nil {
		w.Fatal(err)
	}
	return connect(w.T, w.s, token.Text)
}

func (w *watchdog) advance(by time.Duration) {
	w.Helper()
	if _, err := w.admin.MoveClock(w.Context(), by); err != nil {
		w.Fatal(err)
	}
}

// fails has tasks of three senders offered to an agent, which sees each and does not answer.
func (w *watchdog) fails(agent string, by *client.Client) {
	w.Helper()
	for n := range 3 {
		w.ignored(agent, by, w.agent(fmt.Sprint("sender", n)))
	}
}

func (w *watchdog) ignored(agent string, by, sender *client.Client) {
	w.Helper()
	if _, err := sender.CreateTask(w.Context(), client.CreateInput{Intent: "work", Send: &client.SendInput{To: []string{agent}, Retries: new(int)}}); err != nil {
		w.Fatal(err)
	}
	if _, err := by.Inbox(w.Context(), client.InboxOptions{See: true}); err != nil {
		w.Fatal(err)
	}
	w.advance(20 * time.Second)
}

// raised lists the alerts that are raised, by id.
func (w *watchdog) raised() map[string]admin.Alert {
	w.Helper()
	list, err := w.admin.Alerts(w.Context(), admin.AlertOptions{})
	if err != nil {
		w.Fatal(err)
	}
	of := map[string]admin.Alert{}
	for _, a := range list.Alerts {
		of[a.ID] = a
	}
	return of
}

// recorded lists the events of alerts in the record.
func (w *watchdog) recorded() (names []string) {
	w.Helper()
	var b strings.Builder
	if err := w.boss.Export(w.Context(), client.ExportOptions{}, &b); err != nil {
		w.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if _, rest, ok := strings.Cut(line, `"event":"alert-`); ok {
			name, _, _ := strings.Cut(rest, `"`)
			names = append(names, name)
		}
	}
	return names
}

func TestAnAgentThatDoesNotAnswerRaisesAlertsOnceAndTheyRecover(t *testing.T) {
	t.Parallel()
	w := newWatchdog(t, Config{})
	coder := w.agent("coder")
	w.fails("coder", coder)
	raised := w.raised()
	failed, fails, open := raised["handoff-failed"], raised["agent-fails:coder"], raised["circuit-open:coder"]
	if failed.Severity != "info" || fails.Severity != "warning" || open.Severity != "critical" {
		t.Fatalf("%+v", raised)
	}
	if len(fails.Handoffs) == 0 || fails.Value != 3 || fails.Threshold != 3 || fails.Since == nil || fails.Raised == nil || fails.Figure != "trapeze.agent.failures" {
		t.Errorf("%+v", fails)
	}
	if fails.Command != "trapeze agent show coder" || failed.Command != "trapeze handoff show "+failed.Handoffs[0] {
		t.Errorf("%s; %s", fails.Command, failed.Command)
	}
	for _, id := range slices.Concat(fails.Handoffs, failed.Handoffs, open.Handoffs) {
		if _, err := w.boss.Handoff(w.Context(), id); err != nil {
			t.Errorf("a handoff behind an alert: %v", err)
		}
	}
	before := w.recorded()
	w.advance(time.Second)
	if again := w.recorded(); !slices.Equal(again, before) {
		t.Errorf("recorded again: %q after %q", again, before)
	}
	if _, err := w.boss.ResetCircuit(w.Context(), "coder"); err != nil {
		t.Fatal(err)
	}
	for _, d := range w.dead() {
		if _, err := w.boss.Discard(w.Context(), d, "for the test"); err != nil {
			t.Fatal(err)
		}
	}
	w.advance(10 * time.Minute)
	if left := w.raised(); len(left) != 0 {
		t.Errorf("still raised: %+v", left)
	}
	list, err := w.admin.Alerts(w.Context(), admin.AlertOptions{Past: true})
	if err != nil || len(list.Alerts) < 3 || list.Alerts[0].State != "recovered" || list.Alerts[0].Recovered == nil {
		t.Errorf("%v: %+v", err, list)
	}
	a, err := w.admin.Alert(w.Context(), "agent-fails:coder")
	if err != nil || a.State != "recovered" {
		t.Errorf("%v: %+v", err, a)
	}
}

// dead lists the tasks in the dead letters.
func (w *watchdog) dead() (ids []string) {
	w.Helper()
	page, err := w.boss.Dead(w.Context(), "", 0)
	if err != nil {
		w.Fatal(err)
	}
	for _, d := range page.Tasks {
		ids = append(ids, d.ID)
	}
	return ids
}

func TestASilencedAlertIsRaisedAndNobodyElseThanOperatorsSilences(t *testing.T) {
	t.Parallel()
	w := newWatchdog(t, Config{})
	coder := w.agent("coder")
	in := admin.SilenceInput{Alert: "circuit-open", Reason: "we know", For: client.Duration(time.Hour)}
	if _, err := admin.New(coder).SilenceAlert(w.Context(), in); !errors.Is(err, client.NotPermitted) {
		t.Errorf("an agent silences: %v", err)
	}
	if _, err := admin.New(coder).Alerts(w.Context(), admin.AlertOptions{}); !errors.Is(err, client.NotPermitted) {
		t.Errorf("an agent lists: %v", err)
	}
	for _, bad := range []admin.SilenceInput{{Alert: "nothing", Reason: "x", For: in.For}, {Alert: "circuit-open", Reason: "", For: in.For}, {Alert: "circuit-open", Reason: "x"}, {Alert: "dead-letters:coder", Reason: "x", For: in.For}} {
		if _, err := w.admin.SilenceAlert(w.Context(), bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	for _, near := range []string{"circuit-open:codr", "agent-fails:nobody", "inbox-old:codr"} {
		_, err := w.admin.SilenceAlert(w.Context(), admin.SilenceInput{Alert: near, Reason: "x", For: in.For})
		if r := (*client.Error)(nil); !errors.As(err, &r) || r.Code != client.NotFound || !strings.Contains(r.Hint, "coder") {
			t.Errorf("a silence of %s: %v", near, err)
		}
		if _, err := w.admin.Alert(w.Context(), near); !errors.Is(err, client.NotFound) {
			t.Errorf("%s is shown: %v", near, err)
		}
	}
	o, err := w.admin.SilenceAlert(w.Context(), in)
	if err != nil || o.ID != "s1" || o.Alert != "circuit-open" || !strings.HasPrefix(o.By, "admin/") {
		t.Fatalf("%v: %+v", err, o)
	}
	w.fails("coder", coder)
	if a := w.raised()["circuit-open:coder"]; a.Silence == nil || a.Silence.ID != "s1" {
		t.Errorf("%+v", a)
	}
	list, err := w.admin.EndSilence(w.Context(), "s1")
	if err != nil || len(list.Silences) != 0 || len(list.Alerts) == 0 {
		t.Errorf("%v: %+v", err, list)
	}
	if _, err := w.admin.EndSilence(w.Context(), "s1"); !errors.Is(err, client.NotFound) {
		t.Errorf("%v", err)
	}
	if _, err := w.admin.SilenceAlert(w.Context(), in); err != nil {
		t.Fatal(err)
	}
	w.advance(time.Hour)
	if names := w.recorded(); !slices.Contains(names, "silenced") || strings.Count(strings.Join(names, " "), "silence-ended") != 2 {
		t.Errorf("%q", names)
	}
}

func TestACallWaitsForAnAlert(t *testing.T) {
	t.Parallel()
	w := newWatchdog(t, Config{})
	coder := w.agent("coder")
	empty, err := w.admin.Alerts(w.Context(), admin.AlertOptions{Wait: 10 * time.Millisecond})
	if err != nil || len(empty.Alerts) != 0 {
		t.Fatalf("%v: %+v", err, empty)
	}
	found := make(chan admin.AlertList, 1)
	go func() {
		list, err := w.admin.Alerts(context.WithoutCancel(w.Context()), admin.AlertOptions{Wait: 50 * time.Second, Severity: "critical"})
		if err != nil {
			t.Error(err)
		}
		found <- list
	}()
	w.fails("coder", coder)
	if list := <-found; len(list.Alerts) == 0 || list.Alerts[0].ID != "circuit-open:coder" || list.Position == 0 {
		t.Errorf("%+v", list)
	}
}
