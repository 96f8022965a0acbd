package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/delivery/notify"
)

// mailbox receives alerts by webhook.
type mailbox struct {
	*httptest.Server
	got chan notify.Alert
}

func newMailbox(t *testing.T) *mailbox {
	t.Helper()
	m := &mailbox{got: make(chan notify.Alert, 100)}
	m.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var a notify.Alert
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil || r.Header.Get("Idempotency-Key") != a.ID {
			t.Errorf("%v: %+v", err, a)
		}
		m.got <- a
	}))
	t.Cleanup(m.Close)
	return m
}

// next returns the next alert.
func (m *mailbox) next(t *testing.T) notify.Alert {
	t.Helper()
	select {
	case a := <-m.got:
		return a
	case <-time.After(time.Minute): // the test's own context ends only after it
		t.Fatal("no alert came")
	}
	return notify.Alert{}
}

func TestPeopleAreNotifiedOfAnAlertAndOfItsRecovery(t *testing.T) {
	t.Parallel()
	all, severe := newMailbox(t), newMailbox(t)
	w := newWatchdog(t, Config{Alerts: []string{"webhook:" + all.URL, "critical=webhook:" + severe.URL}})
	coder := w.agent("coder")
	w.fails("coder", coder)
	if a := all.next(t); a.Alert != "handoff-failed" || a.Event != "alert-raised" || len(a.Handoffs) == 0 || a.Command == "" {
		t.Errorf("%+v", a)
	}
	if a := all.next(t); a.Alert != "agent-fails:coder" && a.Alert != "circuit-open:coder" {
		t.Errorf("%+v", a)
	}
	if a := severe.next(t); a.Alert != "circuit-open:coder" || a.Severity != "critical" {
		t.Errorf("%+v", a)
	}
	if _, err := w.boss.ResetCircuit(w.Context(), "coder"); err != nil {
		t.Fatal(err)
	}
	w.advance(10 * time.Minute)
	if a := severe.next(t); a.Alert != "circuit-open:coder" || a.Event != "alert-recovered" || a.Recovered.IsZero() {
		t.Errorf("%+v", a)
	}
}
