//go:build slow && linux && !race

package scenario

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	api "github.com/trapezehq/trapeze/client"
)

// wantFull checks that an upload was refused because the disk is full, with what to do.
func wantFull(t *testing.T, err error) {
	t.Helper()
	var refused *api.Error
	if !errors.As(err, &refused) || refused.Code != api.Unavailable || refused.Status != http.StatusServiceUnavailable ||
		!strings.Contains(refused.Message, "full") || !strings.Contains(refused.Hint, "free some space") {
		t.Errorf("refused with %v", err)
	}
}

func TestArtifactsThatFillTheDiskStopNoHandoffs(t *testing.T) {
	embedded(t)
	r := newRig(t, mounted(t, "200m"), modeServe)
	r.program = buildProgram(t)
	c := r.client(r.start(), r.token)
	defer c.Close()
	var kept [][]byte
	var err error
	for n := 0; err == nil && n < 40; n++ {
		content := patchOf(n, 8<<20)
		if _, err = c.PutArtifact(t.Context(), bytes.NewReader(content), ""); err == nil {
			kept = append(kept, content)
		}
	}
	wantFull(t, err)
	t.Logf("full after %d artifacts: %v", len(kept), err)
	for range 100 { // the record has room of its own
		if _, err := c.CreateTask(t.Context(), api.CreateInput{Intent: "go on"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Ready(t.Context()); err != nil {
		t.Errorf("ready: %v", err)
	}
	for _, content := range kept {
		fetched(t, c, content)
	}
	if whole, unfinished := storedFiles(t, r.dir); unfinished != 0 || len(whole) != len(kept) {
		t.Errorf("%d unfinished, %d of %d", unfinished, len(whole), len(kept))
	}
	if err := r.term(); err != nil {
		t.Errorf("%v\n%s", err, r.stderr)
	}
}

func TestADiskThatFillsUpDuringAnUploadEndsItAndKeepsNothingOfIt(t *testing.T) {
	embedded(t)
	r := newRig(t, mounted(t, "200m"), modeServe)
	r.program = buildProgram(t)
	c := r.client(r.start(), r.token)
	defer c.Close()
	for _, but := range []int64{48 << 20, 64 << 10, 0} {
		in, out := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			_, err := c.PutArtifact(t.Context(), in, "")
			ended <- errors.Join(err, in.CloseWithError(errors.New("nobody reads")))
		}()
		if _, err := out.Write(patchOf(1, 2<<20)); err != nil {
			t.Fatal(err)
		}
		release := ballast(t, r.dir, but)
		_, _ = out.Write(patchOf(2, 32<<20)) // it is not read to its end
		_ = out.Close()
		wantFull(t, <-ended)
		for deadline := time.Now().Add(patience); ; <-time.After(time.Millisecond) {
			if whole, unfinished := storedFiles(t, r.dir); unfinished == 0 && len(whole) == 0 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("something of it is kept")
			}
		}
		release()
	}
	room := patchOf(3, 8<<20)
	if _, err := c.PutArtifact(t.Context(), bytes.NewReader(room), ""); err != nil {
		t.Errorf("with room again: %v", err)
	}
	fetched(t, c, room)
	if err := r.term(); err != nil {
		t.Errorf("%v\n%s", err, r.stderr)
	}
}
