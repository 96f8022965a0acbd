package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

var notice = Ticket{
	ID: "task_1.k1#ticket-opened", Event: "ticket-opened", Workspace: "main", Ticket: "task_1.k1", Task: "task_1", Kind: event.TicketQuestion, Desk: "billing",
	From: "coder", Question: "refund it? $(touch pwned) \"; rm -rf /", Options: []string{"yes"}, Due: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC),
}

func parse(t *testing.T, spec string, log *slog.Logger) Sink {
	t.Helper()
	s, err := Parse(spec, log)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhatIsNoSinkIsRefused(t *testing.T) {
	for _, spec := range []string{"", "mail:ann", "log:x", "webhook:", "webhook:ftp://x/y", "webhook:/path", "webhook:http://", "exec:", "exec:/nowhere/to/be/found"} {
		if s, err := Parse(spec, slog.Default()); refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("%q: %v, %v", spec, s, err)
		}
	}
}

func TestTheLogGetsNoticesAsFields(t *testing.T) {
	var b bytes.Buffer
	s := parse(t, "log", slog.New(slog.NewJSONHandler(&b, nil)))
	if err := s.Send(t.Context(), notice); err != nil || !strings.Contains(b.String(), `"ticket":"task_1.k1","kind"`) || !strings.Contains(b.String(), `"task":"task_1"`) ||
		strings.Contains(b.String(), notice.Question) {
		t.Errorf("%v: %s", err, b.String())
	}
}

// receiver is a webhook's other end, which may misbehave.
func receiver(t *testing.T, answer http.HandlerFunc) Sink {
	t.Helper()
	srv := httptest.NewServer(answer)
	t.Cleanup(srv.Close)
	return parse(t, "webhook:"+srv.URL+"/hook?secret=s3cret", nil)
}

func TestAWebhookGetsTheNoticeWithItsIDAsKey(t *testing.T) {
	var got Ticket
	s := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.Header.Get("Idempotency-Key") != notice.ID || r.URL.Query().Get("secret") != "s3cret" {
			t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
		}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusAccepted)
	})
	if err := s.Send(t.Context(), notice); err != nil || got.Question != notice.Question || !got.Due.Equal(notice.Due) {
		t.Errorf("%v: %+v", err, got)
	}
}

func TestAReceiverThatMisbehavesIsTriedAgainOrGivenUp(t *testing.T) {
	for _, c := range []struct {
		name    string
		answer  http.HandlerFunc
		refused bool
	}{
		{"500", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, false},
		{"too many", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }, false},
		{"not found", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, true},
		{"elsewhere", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, true},
		{"hangs up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, false},
		{"endless and bad", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat("x", 1<<16)); err != nil {
					return
				}
			}
		}, false},
	} {
		s := receiver(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/elsewhere" {
				t.Error("a redirect was followed")
			}
			c.answer(w, r)
		})
		err := s.Send(t.Context(), notice)
		if err == nil || errors.Is(err, ErrRefused) != c.refused {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && strings.Contains(err.Error()+s.Name(), "s3cret") {
			t.Errorf("%s: the error or the name tells the secret: %v", c.name, err)
		}
	}
}

func TestAReceiverThatSaysNothingIsNotWaitedForLongerThanTheCallerWants(t *testing.T) {
	s := receiver(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server see that the caller has gone
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if err := s.Send(ctx, notice); err == nil || errors.Is(err, ErrRefused) {
		t.Error(err)
	}
	if w, ok := s.(*webhook); !ok || w.client.Timeout != Timeout {
		t.Error("a call has no timeout of its own")
	}
}

func TestNobodyThere(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	if err := parse(t, "webhook:"+srv.URL, nil).Send(t.Context(), notice); err == nil || errors.Is(err, ErrRefused) {
		t.Error(err)
	}
}

// script is a program of the test's.
func script(t *testing.T, text string) (s Sink, dir string) {
	t.Helper()
	dir = t.TempDir()
	path := filepath.Join(dir, "tell.sh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\ncd "+dir+"\n"+text+"\n"), 0o700); err != nil { //nolint:gosec // it is to be run
		t.Fatal(err)
	}
	return parse(t, "exec:"+path, nil), dir
}

func TestAProgramReadsTheNoticeAndNothingOfItIsRun(t *testing.T) {
	s, dir := script(t, "cat > got; echo $# > args")
	if err := s.Send(t.Context(), notice); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "got"))
	var got Ticket
	if err != nil || json.Unmarshal(b, &got) != nil || got.Question != notice.Question {
		t.Errorf("%v: %s", err, b)
	}
	if args, err := os.ReadFile(filepath.Join(dir, "args")); err != nil || strings.TrimSpace(string(args)) != "0" {
		t.Errorf("%v: the program got %s arguments", err, args)
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Error("words of an agent were run")
	}
}

func TestAProgramGetsNoSecretOfTheServer(t *testing.T) {
	for _, name := range []string{"TRAPEZE_TOKEN", "TRAPEZE_INSTALLATION_KEY", "TRAPEZE_OIDC_SECRET", "TRAPEZE_POSTGRES", "PGPASSWORD"} {
		t.Setenv(name, "hidden")
	}
	t.Setenv("PAGER_KEY", "its own")
	s, dir := script(t, "env > got")
	if err := s.Send(t.Context(), notice); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "got")); err != nil || strings.Contains(string(b), "hidden") || !strings.Contains(string(b), "PAGER_KEY=its own") {
		t.Errorf("%v: the environment of the program is\n%s", err, b)
	}
}

func TestAProgramThatMisbehavesIsTriedAgain(t *testing.T) {
	for _, text := range []string{"exit 3", "echo no >&2; exit 1", "exec <&-; exit 1", "yes | head -c 1000000; exit 1", "kill -9 $$"} {
		s, _ := script(t, text)
		err := s.Send(t.Context(), notice)
		if err == nil || errors.Is(err, ErrRefused) || len(err.Error()) > 1000 {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAProgramThatDoesNotEndIsEnded(t *testing.T) {
	s, _ := script(t, "sleep 60 & sleep 60")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Send(ctx, notice); err == nil {
		t.Error("it has not ended and was taken for well")
	}
}

func TestARecoverySaysIfTheAlertMayHoldStill(t *testing.T) {
	for _, over := range []bool{false, true} {
		_, off := Alert{Alert: "dead-letters", Recovered: time.Now(), Off: over}.Text()
		_, archived := Alert{Alert: "dead-letters", Recovered: time.Now(), Archived: over}.Text()
		if strings.Contains(off, "The policy switched it off") != over || strings.Contains(archived, "The workspace was archived") != over {
			t.Errorf("%v: %s; %s", over, off, archived)
		}
	}
}

func TestAProgramAndTheLogGetAlerts(t *testing.T) {
	dir := t.TempDir()
	out, script := filepath.Join(dir, "out"), filepath.Join(dir, "tell")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ncat > '"+out+"'\n"), 0o700); err != nil { //nolint:gosec // a program of the test
		t.Fatal(err)
	}
	a := Alert{ID: "main/dead-letters@1#alert-raised", Event: "alert-raised", Alert: "dead-letters", Severity: alert.Warning}
	if err := parse(t, "exec:"+script, nil).Send(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	var got Alert
	if b, err := os.ReadFile(out); err != nil || json.Unmarshal(b, &got) != nil || got.Alert != a.Alert || got.ID != a.ID {
		t.Errorf("%v: %+v", err, got)
	}
	var b bytes.Buffer
	if err := parse(t, "log", slog.New(slog.NewJSONHandler(&b, nil))).Send(t.Context(), a); err != nil || !strings.Contains(b.String(), `"level":"WARN"`) || !strings.Contains(b.String(), `"alert":"dead-letters"`) {
		t.Errorf("%v: %s", err, b.String())
	}
}
