//go:build unix

package work

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// running starts a shell that says "begun", as the program of a worker with a file.
func running(t *testing.T, worker *scratch, script string) (file string, program *exec.Cmd, out io.Reader) {
	t.Helper()
	file, err := worker.file([]byte("its content"))
	if err != nil {
		t.Fatal(err)
	}
	env := []string{envelopeVar + file}
	program = exec.CommandContext(t.Context(), "sh", "-c", script)
	program.Env = append(os.Environ(), env...)
	program.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // and not with its parent, as on other systems
	if out, err = program.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Skip("no shell here")
	}
	worker.note(program.Process.Pid, env)
	if _, err := io.ReadFull(out, make([]byte, len("begun\n"))); err != nil {
		t.Fatal(err)
	}
	return file, program, out
}

func TestAGuardEndsAndRemovesWhatAKilledWorkerLeft(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	killed, _, err := openScratch()
	if err != nil {
		t.Fatal(err)
	}
	file, program, out := running(t, killed, "echo begun; sleep 600; true")
	alive, worker := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		Guard(killed.dir, alive)
	}()
	if _, err := worker.Write([]byte("x")); err != nil { // the guard reads, and does nothing else
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	if err := worker.Close(); err != nil { // the pipe ends before the lock is released
		t.Fatal(err)
	}
	if err := killed.lock.Close(); err != nil {
		t.Fatal(err)
	}
	<-done
	if _, err := io.ReadAll(out); err != nil { // the pipe ends when the shell and its child have
		t.Error(err)
	}
	_ = program.Wait()
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "*")); err != nil || len(left) > 0 {
		t.Errorf("%q, %v", left, err)
	}
}

func TestAGuardTouchesNothingElse(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	own := t.TempDir()
	Guard(own, strings.NewReader(""))
	if _, err := os.Stat(own); err != nil {
		t.Error("a directory that is none of a worker is removed")
	}
	s, _, err := openScratch()
	if err != nil {
		t.Fatal(err)
	}
	stop := s.startGuard([]string{"sh", "-c", `cat; exit 0`, "--guard"})
	if err := s.close(); err != nil {
		t.Error(err)
	}
	stop() // which does not wait for long
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "*")); err != nil || len(left) > 0 {
		t.Errorf("%q, %v", left, err)
	}
}
