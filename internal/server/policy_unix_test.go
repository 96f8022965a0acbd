//go:build unix

package server

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

func TestAPolicyFileThatIsNoFileIsRefusedWithoutWaitingForIt(t *testing.T) {
	dir := t.TempDir()
	pipe, folder := filepath.Join(dir, "pipe"), filepath.Join(dir, "folder")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, folder} {
		f, err := Config{Policy: path}.readPolicy(identity.DefaultWorkspace)
		if refusal.CodeOf(err) != refusal.Invalid || !strings.Contains(err.Error(), "not a regular file") || strings.Contains(err.Error(), dir) || f.None {
			t.Errorf("%+v, %v", f, err)
		}
	}
}

func TestAHangupBringsTheFileIntoForceAndABadOneChangesNothing(t *testing.T) {
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP) // so that none ends the test
	defer signal.Stop(heard)
	file := filepath.Join(t.TempDir(), "rules.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("version: 1\nrules: [{name: one, when: {tags: [x]}, then: keep}]\n")
	ctx, stop := context.WithCancel(t.Context())
	running, over := make(chan *Server, 1), make(chan error, 1)
	go func() {
		over <- Run(ctx, Config{DataDir: t.TempDir(), Addr: "127.0.0.1:0", Policy: file}, func(s *Server) { running <- s })
	}()
	var s *Server
	select {
	case s = <-running:
	case err := <-over:
		t.Fatal(err)
	}
	defer func() {
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
	}()
	hangUp := func(until func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !until(); {
			if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
			if <-heard; time.Now().After(end) {
				t.Fatal("nothing happens")
			}
		}
	}
	inForce := func(rule string) bool {
		p, err := s.UseCases.Policies.Show(t.Context(), caller.System(identity.DefaultWorkspace, "test"))
		return err == nil && strings.Contains(p.Text, "name: "+rule)
	}
	write("version: 1\nrules: [{name: two, when: {tags: [x]}, then: keep}]\n")
	hangUp(func() bool { return inForce("two") })
	write("version: 1\nruls: []\n")
	hangUp(func() bool { return s.UseCases.Policies.Err() != nil })
	if !inForce("two") {
		t.Error("the good one is gone")
	}
}
