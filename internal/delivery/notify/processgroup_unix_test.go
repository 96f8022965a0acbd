//go:build unix

package notify

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestAProgramsOwnChildrenEndWithIt: what a program has started does not outlive its time.
func TestAProgramsOwnChildrenEndWithIt(t *testing.T) {
	s, dir := script(t, "(echo up; exec sleep 60) > pipe & wait")
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sent, ended := make(chan error, 1), make(chan error, 1)
	go func() { sent <- s.Send(ctx, notice) }()
	go func() {
		f, err := os.Open(pipe)
		if err != nil {
			ended <- err
			return
		}
		defer f.Close()
		in := bufio.NewReader(f)
		if _, err = in.ReadString('\n'); err == nil { // the child is there
			cancel()
			_, err = io.Copy(io.Discard, in) // until nobody has the pipe any more
		}
		ended <- err
	}()
	for _, done := range []chan error{sent, ended} {
		select {
		case err := <-done:
			if (done == sent) != (err != nil) {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Fatal("it lives on")
		}
	}
}
