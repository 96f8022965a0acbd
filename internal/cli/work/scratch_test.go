//go:build unix

package work

import (
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestWhatAKilledWorkerLeftIsEndedAndRemovedAtTheNextStart(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	killed, n, err := openScratch()
	if err != nil || n != 0 {
		t.Fatal(n, err)
	}
	file, program, out := running(t, killed, "echo begun; sleep 600")
	living, n, err := openScratch()
	if err != nil || n != 0 {
		t.Fatalf("%d processes of a worker that lives were ended, %v", n, err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	if err := killed.lock.Close(); err != nil { // as its death does
		t.Fatal(err)
	}
	next, n, err := openScratch()
	if err != nil || n == 0 {
		t.Errorf("%d processes were ended, %v", n, err)
	}
	if _, err := io.ReadAll(out); err != nil { // the pipe ends when the shell and its child have
		t.Error(err)
	}
	_ = program.Wait()
	for _, s := range []*scratch{living, next} {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(tmp, "*")); err != nil || len(left) > 0 {
		t.Errorf("%v stays, %v", left, err)
	}
}

func TestWorkersThatStartAtOnceLeaveEachOtherAlone(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for range 20 {
		var all sync.WaitGroup
		list := make([]*scratch, 16)
		for i := range list {
			all.Go(func() {
				s, _, err := openScratch()
				if err != nil {
					t.Error(err)
					return
				}
				list[i] = s
			})
		}
		all.Wait()
		for _, s := range list {
			if s == nil {
				continue
			}
			for _, name := range []string{s.dir, s.dir + lockSuffix} {
				if _, err := os.Stat(name); err != nil {
					t.Errorf("a worker that lives has lost it: %v", err)
				}
			}
			if err := s.close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestTheDirectoriesOfOthersAreLeftAlone(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	elsewhere := t.TempDir()
	mark := filepath.Join(elsewhere, "mark")
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(tmp, scratchPrefix+"x")); err != nil {
		t.Fatal(err)
	}
	s, _, err := openScratch()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Error(err)
	}
}
