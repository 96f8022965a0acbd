//go:build slow && !race

package scenario

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/scenario/program"
)

// sentence is what a patient must not be found by.
const sentence = "Wanda Moor of 4711 has the diagnosis X41"

// sentenceIn lists the files of a directory that have the sentence.
func sentenceIn(t *testing.T, dir string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name) //nolint:gosec // of the test's directory
		if bytes.Contains(b, []byte(sentence)) {
			found = append(found, filepath.Base(name))
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return found
}

// TestAnErasureThatIsKilledLeavesNothingInTheFiles kills the server (SIGKILL) as soon as a step of an erasure can be seen from outside.
func TestAnErasureThatIsKilledLeavesNothingInTheFiles(t *testing.T) {
	embedded(t)
	trapeze := filepath.Join(t.TempDir(), "trapeze")
	if err := program.Build(trapeze); err != nil {
		t.Fatal(err)
	}
	// Each says whether its step has begun; before is what the file of keys was.
	for name, begun := range map[string]func(dir string, before []byte) bool{
		"noted": func(dir string, _ []byte) bool {
			b, _ := os.ReadFile(filepath.Join(dir, "erasure", "keys.pending")) //nolint:gosec // as above
			return bytes.Contains(b, []byte("default"))
		},
		"keys destroyed": func(dir string, before []byte) bool {
			b, _ := os.ReadFile(filepath.Join(dir, "erasure", "keys")) //nolint:gosec // as above
			return !bytes.Equal(b[:min(len(b), len(before))], before)
		},
		"written again": func(dir string, _ []byte) bool { return len(sentenceIn(t, dir)) == 0 },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			serve := func() (*program.Server, *exec.Cmd, admin.Client) {
				t.Helper()
				cmd := exec.CommandContext(context.Background(), trapeze, "serve", "--erasable", "--data-dir", dir, "--addr", "127.0.0.1:0", "--json") //nolint:gosec // ours
				s, err := program.Serve(cmd)
				if err != nil {
					t.Fatal(err)
				}
				c, err := api.New(s.URL, s.Token, api.Options{Retries: -1, Timeout: patience})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(c.Close)
				return s, cmd, admin.New(c)
			}
			_, cmd, a := serve()
			before := fillClinic(t, dir, a)
			in := admin.SubjectInput{Subject: "tag/patient-4711", Why: "request"}
			answered := make(chan error, 1)
			go func() {
				_, err := a.Erase(context.Background(), in)
				answered <- err
			}()
			for len(answered) == 0 && !begun(dir, before) { // without a pause: the last step is seen for less than a millisecond
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			err := <-answered
			t.Logf("killed when it was %s; the answer was %v; the files that have the sentence: %v", name, err, sentenceIn(t, dir))

			s, _, a := serve()
			all, err := a.Erasures(t.Context(), admin.ErasureFilter{})
			if err != nil {
				t.Fatal(err)
			}
			if len(all.Erasures) == 0 { // it was killed before the erasure was recorded
				if _, err := a.Erase(t.Context(), in); err != nil {
					t.Fatal(err)
				}
			} else if all.Erasures[0].Finished == nil {
				t.Error("the erasure is still pending when the server answers")
			}
			if found := sentenceIn(t, dir); len(found) > 0 {
				t.Errorf("%v have the sentence", found)
			}
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
			if found := sentenceIn(t, dir); len(found) > 0 {
				t.Errorf("%v have the sentence after the stop", found)
			}
			if out, err := exec.CommandContext(t.Context(), trapeze, "verify", dir).CombinedOutput(); err != nil { //nolint:gosec // ours
				t.Errorf("verify: %v\n%s", err, out)
			}
		})
	}
}

// fillClinic makes tasks of which the files have the sentence, and returns the file of keys.
func fillClinic(t *testing.T, dir string, a admin.Client) (keys []byte) {
	t.Helper()
	for range 40 { // so that the steps of an erasure take a while
		made, err := a.CreateTask(t.Context(), api.CreateInput{Intent: "treat: " + sentence, Tags: []string{"patient-4711"}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Cancel(t.Context(), made.Task, api.CancelInput{Detail: sentence}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Tasks(t.Context(), api.TaskFilter{}); err != nil { // has the tables of the views written
		t.Fatal(err)
	}
	if len(sentenceIn(t, dir)) == 0 {
		t.Fatal("the files do not have it: this test proves nothing")
	}
	keys, err := os.ReadFile(filepath.Join(dir, "erasure", "keys")) //nolint:gosec // as above
	if err != nil {
		t.Fatal(err)
	}
	return keys
}
