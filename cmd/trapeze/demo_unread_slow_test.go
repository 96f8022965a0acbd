//go:build slow && unix && !race

package main

import (
	"bufio"
	"errors"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// A demo whose output nobody reads any more ends, and with it the programs that it has started.
func TestADemoThatNobodyReadsLeavesNoProgram(t *testing.T) {
	bin := t.TempDir()
	install(t, bin)
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, name), "demo")
	cmd.Env = append(cmd.Environ(), "HOME="+t.TempDir(), "TMPDIR="+t.TempDir())
	cmd.Dir = t.TempDir()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	group := -cmd.Process.Pid
	defer func() { _ = syscall.Kill(group, syscall.SIGKILL) }()
	lines := bufio.NewScanner(out)
	for n := 0; n < 6 && lines.Scan(); n++ { // by then it has workers
		t.Log(lines.Text())
	}
	_ = out.Close()
	if err := cmd.Wait(); err == nil {
		t.Error("it ends as if all had been read")
	}
	if err := syscall.Kill(group, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("programs of the demo go on: %v", err)
	}
}
