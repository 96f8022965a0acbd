//go:build slow

package server

import (
	"context"
	"encoding/json"
	"html"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/delivery/notify"
	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// restart stops the server, does something to its data, and starts it again.
func (st *stage) restart(meanwhile func(dir string)) {
	st.Helper()
	if err := st.s.Close(context.Background()); err != nil {
		st.Fatal(err)
	}
	meanwhile(st.config.DataDir)
	st.watchdog = newWatchdog(st.T, st.config)
	st.connect()
}

// notice is the next message about the alert that the person gets. It comes once, and after a restart perhaps again.
func (st *stage) notice(name string) notify.Alert {
	st.Helper()
	for {
		if a := st.box.next(st.T); a.Name == name && !st.had[a.ID] {
			st.had[a.ID] = st.config.DataDir != ""
			return a
		}
	}
}

func TestEveryAlertHasAStory(t *testing.T) {
	t.Parallel()
	all := stories()
	told := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		name, variant, _ := strings.Cut(key, ": ")
		if told[name] = true; variant != "" && !alertsInFull {
			continue
		}
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			d, ok := alert.Find(name)
			if !ok {
				t.Fatalf("a story of %s, which is no alert", name)
			}
			of := all[key]
			if of.threshold != 0 {
				d.Threshold = of.threshold
			}
			st := newStage(t, &of)
			silence := tell(st, d, &of)
			if alertsInFull {
				tellAgain(st, d, &of, silence)
			}
			st.defaults()
		})
	}
	for _, name := range alert.Names() {
		if !told[name] {
			t.Errorf("the alert %s has no story: see stories", name)
		}
	}
}

// tell tells the story of an alert: it is raised once, an operator silences it, it recovers. It returns the id of the silence.
func tell(st *stage, d alert.Definition, of *story) string {
	st.Helper()
	st.begin(of)
	a := st.await(d.Name, true, of.raises)
	st.describes(a, &d, of)
	st.notified(st.notice(d.Name), &a, "alert-raised")
	for range 2 { // it is judged again, and nothing new is recorded
		st.await(d.Name, true, most{1, 0})
		st.again()
	}
	if events, entry := st.entries(d.Name); !slices.Equal(events, []string{"raised"}) || !slices.Equal(entry.Handoffs, a.Handoffs) || entry.Figure != d.Figure || entry.Threshold != d.Threshold {
		st.Errorf("recorded %q, %+v", events, entry)
	}
	silence, err := st.operator.SilenceAlert(st.Context(), admin.SilenceInput{Alert: a.ID, Reason: "it is being repaired", For: client.Duration(720 * time.Hour)})
	if err != nil {
		st.Fatal(err)
	}
	if shown, ok := st.found(d.Name); !ok || shown.Silence == nil || shown.Silence.Reason != "it is being repaired" || shown.Silence.By != "operator/olga" {
		st.Errorf("silenced: %+v", shown)
	}
	of.end(st)
	st.await(d.Name, false, of.recovers)
	st.over(a.ID)
	return silence.ID
}

// tellAgain tells it once more: it is raised while it is silenced, and recovers after the silence.
func tellAgain(st *stage, d alert.Definition, of *story, silence string) {
	st.Helper()
	st.begin(of)
	a := st.await(d.Name, true, of.raises)
	if _, entry := st.entries(d.Name); !entry.Silenced || a.Silence == nil {
		st.Errorf("raised while it is silenced: %+v, %+v", entry, a)
	}
	if _, err := st.operator.EndSilence(st.Context(), silence); err != nil {
		st.Fatal(err)
	}
	st.notified(st.notice(d.Name), &a, "alert-raised") // the next message: there was none about the recovery during the silence, and none about this before its end
	of.end(st)
	st.await(d.Name, false, of.recovers)
	st.recovered(st.notice(d.Name), a.ID)
	if events, _ := st.entries(d.Name); !slices.Equal(events, []string{"raised", "recovered", "raised", "recovered"}) {
		st.Errorf("recorded %q", events)
	}
}

// defaults checks that the story had the default times alone: an alert that needs others would not be raised for most users.
func (st *stage) defaults() {
	st.Helper()
	var b strings.Builder
	if err := st.boss.Export(st.Context(), client.ExportOptions{SkipDamaged: true}, &b); err != nil {
		st.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		var e struct {
			Event   string `json:"event"`
			Details struct {
				Timeouts event.Timeouts `json:"timeouts"`
				Asked    time.Time      `json:"at"`
				Due      time.Time      `json:"due"`
			} `json:"details"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			st.Fatal(err)
		}
		of := event.Timeouts{}.WithDefaults()
		if got := e.Details; got.Timeouts.Over(of) != of || !got.Due.IsZero() && got.Due.Sub(got.Asked) > time.Duration(of.Answer) {
			st.Errorf("%s has times of its own: %s", e.Event, line)
		}
	}
}

// describes checks what an alert tells people.
func (st *stage) describes(a admin.Alert, d *alert.Definition, of *story) {
	st.Helper()
	switch {
	case a.Figure != d.Figure || a.Threshold != d.Threshold || a.Severity != string(d.Severity) || a.Meaning != d.Meaning() || a.Do != d.Do() || a.Command == "":
		st.Errorf("%+v", a)
	case a.Limit != string(d.Compare)+" "+d.Unit.Text(d.Threshold) || a.Now == "":
		st.Errorf("the threshold is %q, the value now %q", a.Limit, a.Now)
	case !d.Compare.Holds(a.Value, a.Threshold) || a.Measured == "":
		st.Errorf("a value of %v (%s) is not %s %v", a.Value, a.Measured, d.Compare, a.Threshold)
	case a.Since == nil || a.Raised == nil || a.Raised.Sub(*a.Since) < d.For || a.Raised.Sub(*a.Since) > of.raises.step*time.Duration(of.raises.times)+3*time.Hour:
		st.Errorf("since %v, raised %v", a.Since, a.Raised)
	case len(a.Handoffs) != of.handoffs:
		st.Errorf("it names %d handoffs: %q", len(a.Handoffs), a.Handoffs)
	case of.sender != "" && !slices.Equal(a.Senders, []string{of.sender}):
		st.Errorf("it names the senders %q", a.Senders)
	case len(a.Tickets) != of.tickets:
		st.Errorf("it names %d tickets: %q", len(a.Tickets), a.Tickets)
	case d.Subject == alert.Agent && a.Agent != of.agent || a.ID != strings.TrimSuffix(d.Name+":"+of.agent, ":"):
		st.Errorf("%s is about %q", a.ID, a.Agent)
	}
	for _, id := range a.Handoffs {
		if st.was != nil { // it is damaged
			continue
		}
		if _, err := st.boss.Handoff(st.Context(), id); err != nil {
			st.Errorf("a handoff behind it: %v", err)
		}
	}
	for _, id := range a.Tickets {
		if _, err := st.boss.Ticket(st.Context(), id, 0); err != nil {
			st.Errorf("a ticket behind it: %v", err)
		}
	}
	if shown, err := st.operator.Alert(st.Context(), a.ID); err != nil || shown.ID != a.ID || shown.State != "raised" {
		st.Errorf("%v: %+v", err, shown)
	}
	if st.ca == nil { // the reader of pages trusts no authority of its own
		st.onThePage(a)
	}
}

// onThePage checks that people read on the page what programs read of an alert.
func (st *stage) onThePage(a admin.Alert) {
	st.Helper()
	page := newReader(st.T, st.s)
	page.get(page.link(adminToken(st.T, st.s)), http.StatusOK)
	_, body, _ := strings.Cut(page.get("/alerts", http.StatusOK), `id="`+a.ID+`"`)
	body, _, _ = strings.Cut(body, "</li>")
	headline, details, _ := strings.Cut(a.Meaning, ". ")
	want := []string{headline, details, "<dd>" + a.Now + "</dd>", "<dd>" + a.Measured + "</dd>", "<dd>" + a.Limit + "</dd>", "<code>" + a.Figure + "</code>"}
	for i := range want {
		want[i] = strings.NewReplacer("&lt;dd&gt;", "<dd>", "&lt;/dd&gt;", "</dd>", "&lt;code&gt;", "<code>", "&lt;/code&gt;", "</code>").Replace(html.EscapeString(want[i]))
	}
	for _, id := range a.Handoffs {
		want = append(want, `href="/find?q=`+id+`"`)
	}
	for _, id := range a.Tickets {
		want = append(want, `href="/tickets/`+id+`"`)
	}
	shown(st.T, "the page of alerts", body, want...)
}

// notified checks the message about an alert that is raised.
func (st *stage) notified(m notify.Alert, a *admin.Alert, event string) {
	st.Helper()
	if m.Event != event || m.Alert != a.ID || m.Figure != a.Figure || m.Threshold != a.Threshold || !m.Since.Equal(*a.Since) || !slices.Equal(m.Handoffs, a.Handoffs) || m.Do != a.Do || m.Command != a.Command ||
		m.Measured != a.Measured || m.Limit != a.Limit || !slices.Equal(m.Tickets, a.Tickets) {
		st.Errorf("the person is sent %+v about %+v", m, a)
	}
	_, body := m.Text()
	for _, want := range append([]string{a.Figure + " is " + a.Measured, "(threshold: " + a.Limit + ")"}, a.Tickets...) {
		if !strings.Contains(body, want) {
			st.Errorf("the message lacks %q:\n%s", want, body)
		}
	}
}

// recovered checks the message about an alert that has recovered.
func (st *stage) recovered(m notify.Alert, id string) {
	st.Helper()
	if m.Event != "alert-recovered" || m.Alert != id || m.Recovered.IsZero() {
		st.Errorf("the person is sent %+v", m)
	}
	st.over(id)
}
