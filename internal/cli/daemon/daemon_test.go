package daemon

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestOnlyAServerOfThisMachineIsStarted(t *testing.T) {
	for at, want := range map[string]string{
		"http://127.0.0.1:8727": "127.0.0.1:8727", "http://localhost:1/": "localhost:1", "http://[::1]:9": "[::1]:9",
		"http://127.0.0.1": "", "http://127.0.0.1:0": "", "https://127.0.0.1:1": "", "http://10.0.0.1:1": "",
		"http://trapeze.example:1": "", "http://127.0.0.1:1/under": "", "::": "",
	} {
		got, ok := loopback(at)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %v", at, got, ok)
		}
	}
}

func TestOtherProgramsAreNotTakenForAServer(t *testing.T) {
	for body, want := range map[string]answer{
		`{"status":"ready"}`: ready, `{"status":"up"}`: stranger, `<html>`: stranger, `[]`: stranger,
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }))
		if got, err := (Config{URL: s.URL}).probe(t.Context()); got != want {
			t.Errorf("%s: %v, %v", body, got, err)
		}
		if want == stranger {
			_, err := Ensure(t.Context(), Config{URL: s.URL, DataDir: t.TempDir()})
			if refusal.CodeOf(err) != refusal.Conflict {
				t.Errorf("%s: started beside it: %v", body, err)
			}
		}
		s.Close()
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"status":503,"code":"unavailable"}`)
	}))
	defer s.Close()
	if got, err := (Config{URL: s.URL}).probe(t.Context()); got != unready {
		t.Errorf("an unready server: %v, %v", got, err)
	}
}

func TestALockHasOneHolderAndChecksDoNotDisturbIt(t *testing.T) {
	dir := t.TempDir()
	if held, _ := holder(dir); held {
		t.Fatal("held before there was anybody")
	}
	release, err := Hold(t.Context(), dir, "http://127.0.0.1:7", "")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if held, n := holder(dir); !held || n != (note{PID: os.Getpid(), URL: "http://127.0.0.1:7"}) {
			t.Fatalf("held %v by %v", held, n)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no patience
	if _, err := Hold(ctx, dir, "http://127.0.0.1:8", ""); !errors.Is(err, errHeld) {
		t.Errorf("two held it: %v", err)
	}
	if _, err := Stop(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "does not name the process of a server") {
		t.Errorf("it would end itself: %v", err)
	}
	release()
	if _, err := Stop(t.Context(), dir); !errors.Is(err, ErrNone) {
		t.Errorf("after the release: %v", err)
	}
	if _, _, found := Serving(dir); found {
		t.Error("it is still served")
	}
}

func TestOnlyItsOwnerCanReadALockFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "serve.lock")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o666)); err != nil {
		t.Fatal(err)
	}
	release, err := Hold(t.Context(), dir, "http://127.0.0.1:7", "")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestATimeoutOfAServerHasAReason(t *testing.T) {
	dir := t.TempDir()
	starting, err := take(filepath.Join(dir, startLock)) // by another, who never comes to an end
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = starting.Close() }()
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	for says, ctx := range map[string]context.Context{"did not answer within 1ms": t.Context(), "interrupted before": interrupted} {
		_, err := Ensure(ctx, Config{URL: "http://127.0.0.1:1", DataDir: dir, Timeout: time.Millisecond})
		if refusal.CodeOf(err) != refusal.Unavailable || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, where it should say that it %s", err, says)
		}
	}
}

func TestALogIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "serve.log")
	l, err := openBounded(path, 100)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if _, err := fmt.Fprintf(l, "line %02d of the log\n", i); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob(path + "*")
	if err != nil || len(all) != 2 {
		t.Fatalf("%v, %v", all, err)
	}
	for _, name := range all {
		b, err := os.ReadFile(name)
		if err != nil || len(b) == 0 || len(b) > 100 || !strings.HasSuffix(string(b), "of the log\n") {
			t.Errorf("%s has %d bytes, %v", name, len(b), err)
		}
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if end := tail(path, 0); !strings.HasSuffix(end, "line 49 of the log") {
		t.Errorf("its end is %q", end)
	}
}
