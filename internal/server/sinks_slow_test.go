//go:build slow

package server

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestPeopleAreNotifiedOfASilencedAlertWhenTheSilenceEnds(t *testing.T) {
	t.Parallel()
	box := newMailbox(t)
	w := newWatchdog(t, Config{Alerts: []string{"critical=webhook:" + box.URL}})
	if _, err := w.admin.SilenceAlert(w.Context(), admin.SilenceInput{Alert: "circuit-open", Reason: "we know", For: client.Duration(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	coder := w.agent("coder")
	w.fails("coder", coder)
	if _, err := w.admin.EndSilence(w.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	a := box.next(t)
	if a.Alert != "circuit-open:coder" || a.Event != "alert-raised" || len(box.got) != 0 {
		t.Errorf("%+v", a)
	}

	// After another silence they hear of it again: by another id, or a receiver that takes each id once would drop that.
	again, err := w.admin.SilenceAlert(w.Context(), admin.SilenceInput{Alert: "circuit-open:coder", Reason: "we know", For: client.Duration(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.admin.EndSilence(w.Context(), again.ID); err != nil {
		t.Fatal(err)
	}
	if b := box.next(t); b.Alert != a.Alert || b.Event != "alert-raised" || !b.Raised.Equal(a.Raised) || b.ID == a.ID {
		t.Errorf("%+v after %+v", b, a)
	}

	// It recovers during another silence: people who have heard of it hear so when that is over, and once.
	if _, err := w.admin.SilenceAlert(w.Context(), admin.SilenceInput{Alert: "circuit-open:coder", Reason: "we know", For: client.Duration(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.boss.ResetCircuit(w.Context(), "coder"); err != nil {
		t.Fatal(err)
	}
	w.advance(10 * time.Minute)
	w.advance(51 * time.Minute)
	if a := box.next(t); a.Alert != "circuit-open:coder" || a.Event != "alert-recovered" || a.Recovered.Sub(a.Raised) > 11*time.Minute {
		t.Errorf("%+v", a)
	}
	w.fails("coder", coder)
	if a := box.next(t); a.Event != "alert-raised" {
		t.Errorf("%+v", a)
	}
}

// logs is a log that is read while it is written.
type logs struct {
	raised chan struct{} // a line says that an alert is raised
	sync.Mutex
	bytes.Buffer
}

func (l *logs) Write(b []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	if bytes.Contains(b, []byte("an alert is raised")) {
		select {
		case l.raised <- struct{}{}:
		default:
		}
	}
	return l.Buffer.Write(b)
}

func (l *logs) text() string {
	l.Lock()
	defer l.Unlock()
	return l.String()
}

func TestURLsOfServicesStandInAFileOfTheOwnerAndNowhereElse(t *testing.T) {
	t.Parallel()
	got := make(chan string, 10)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var b bytes.Buffer
		if _, err := b.ReadFrom(r.Body); err != nil {
			t.Error(err)
		}
		got <- r.URL.Path + " " + b.String()
	}))
	defer srv.Close()
	url := "generic://" + strings.TrimPrefix(srv.URL, "http://") + "/s3cret?disabletls=yes"
	file := filepath.Join(t.TempDir(), "alerts")
	if err := os.WriteFile(file, []byte("# people\n\ncritical="+url+"\n"), 0o644); err != nil { //nolint:gosec // that is what is refused
		t.Fatal(err)
	}
	for _, bad := range []string{url, "file:" + file, "file:" + file + ".none", "file:" + filepath.Dir(file), "severe=log", "mail:ann"} {
		s, err := Open(t.Context(), Config{Temporary: true, Alerts: []string{bad}})
		if refusal.CodeOf(err) != refusal.Invalid || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v, %v", bad, s, err)
		}
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	log := logs{raised: make(chan struct{}, 1)}
	w := newWatchdog(t, Config{Alerts: []string{"log", "file:" + file}, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	coder := w.agent("coder")
	w.fails("coder", coder)
	if text := <-got; !strings.HasPrefix(text, "/s3cret ") || !strings.Contains(text, "[critical] circuit-open:coder") {
		t.Errorf("%s", text)
	}
	<-log.raised
	if text := log.text(); strings.Contains(text, "s3cret") {
		t.Errorf("%s", text)
	}
}
