//go:build outside

package scenario

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/server"
	"github.com/trapezehq/trapeze/internal/server/sharedrecord"
)

// openMoved starts a server on a data directory, whose record is at a place, and returns its administrator.
func openMoved(t *testing.T, dir string, at server.Place) (f *front, stop func()) {
	t.Helper()
	s, err := server.Open(t.Context(), server.Config{DataDir: dir, Record: at, Addr: "127.0.0.1:0", Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	stop = func() {
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}
	token, err := os.ReadFile(filepath.Join(dir, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	f = &front{T: t, server: s}
	f.boss = f.as(strings.TrimSpace(string(token)))
	return f, stop
}

// backUp returns a backup of a data directory.
func backUp(t *testing.T, dir string, at server.Place) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := server.Backup(t.Context(), dir, &b, server.BackupOptions{Record: at}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func restoreTo(t *testing.T, dir string, at server.Place, b []byte) server.Restored {
	t.Helper()
	r, err := server.Restore(t.Context(), dir, "", at, []io.Reader{bytes.NewReader(b)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// entriesOf returns the bytes of the entries of a record, up to a position.
func entriesOf(t *testing.T, r ledger.Reader, until ledger.Position) (list [][]byte) {
	t.Helper()
	err := ledger.Through(t.Context(), r, 0, until, func(e *ledger.Entry) error {
		b, err := e.Encode()
		list = append(list, b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// A record moves from a data directory to where front ends share it, grows there, and moves back: with its positions, ids, envelopes, tokens, artifacts and proofs.
func TestARecordMovesWhereFrontEndsShareItAndBack(t *testing.T) {
	onEach(t, func(t *testing.T, next func() server.Place) {
		at := next()
		home, there, back := filepath.Join(t.TempDir(), "home"), filepath.Join(t.TempDir(), "there"), filepath.Join(t.TempDir(), "back")
		f, stop := openMoved(t, home, server.Place{})
		made, coder, file := f.makes()
		var receipt bytes.Buffer
		if err := admin.New(f.boss).HandoffReceipt(t.Context(), made.Task+".h1", &receipt); err != nil {
			t.Fatal(err)
		}
		keys := f.keys()
		b := backUp(t, home, server.Place{})
		stop()

		r := restoreTo(t, there, at, b)
		left, err := filepath.Glob(filepath.Join(there, "trapeze.db*"))
		if _, artifacts := os.Stat(filepath.Join(there, "artifacts")); err != nil || len(left) > 0 || artifacts == nil {
			t.Errorf("the directory still has %v and artifacts", left)
		}
		if _, err := server.Restore(t.Context(), there+"2", "", at, []io.Reader{bytes.NewReader(b)}); refusal.CodeOf(err) != refusal.Conflict {
			t.Errorf("into a database that has a record: %v", err)
		}
		if _, err := os.Stat(there + "2"); err == nil {
			t.Error("a restore that was refused leaves a directory")
		}
		own, err := server.OpenRecord(home)
		if err != nil {
			t.Fatal(err)
		}
		defer own.Close()
		log, err := sharedrecord.OpenParts(t.Context(), at, sharedrecord.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		until := ledger.Position(r.Position)
		if !slices.EqualFunc(entriesOf(t, own, until), entriesOf(t, log.Entries(), until), bytes.Equal) {
			t.Error("the entries differ")
		}

		f, stop = openMoved(t, there, at)
		f.stillHas(made, coder, file.Digest)
		f.verifies(receipt.Bytes(), keys)
		if got := f.keys(); got != keys {
			t.Errorf("the keys are %q, not %q", got, keys)
		}
		if _, err := f.as(coder.Text).Accept(t.Context(), made.Task+".h1", api.AcceptInput{}); err != nil {
			t.Error(err)
		}
		other, stopOther := openFront(t, next(), t.TempDir())
		other.verifies(receipt.Bytes(), keys)
		stopOther()
		b = backUp(t, there, at)
		stop()

		restoreTo(t, back, server.Place{}, b)
		f, stop = openMoved(t, back, server.Place{})
		defer stop()
		f.stillHas(made, coder, file.Digest)
		f.verifies(receipt.Bytes(), keys)
		task, err := f.boss.Task(t.Context(), made.Task)
		if err != nil || task.Owner != "coder" {
			t.Errorf("what was done in the database is not there: %+v, %v", task, err)
		}
	})
}

// A record moves from a data directory into nodes that start for the first time, of which one runs inside the restore, and back. The others wait for it.
func TestARecordMovesIntoNewNodesOfJetStreamAndBack(t *testing.T) {
	place := nodePlaces(t)
	dir := t.TempDir()
	home, back := filepath.Join(dir, "home"), filepath.Join(dir, "back")
	f, stop := openMoved(t, home, server.Place{})
	made, coder, file := f.makes()
	keys := f.keys()
	b := backUp(t, home, server.Place{})
	stop()

	ctx, cancel := context.WithTimeout(t.Context(), patience) // nodes wait for others for longer
	defer cancel()
	var all sync.WaitGroup
	all.Go(func() {
		if r, err := server.Restore(ctx, filepath.Join(dir, "n0"), "", place("n0"), []io.Reader{bytes.NewReader(b)}); err != nil || r.Position == 0 {
			t.Errorf("the restore: %+v, %v", r, err)
		}
	})
	until(t, "the node of the restore listens", func() bool {
		_, err := os.Stat(filepath.Join(dir, "n0.restoring", "jetstream", "client"))
		return err == nil
	})
	var others [2]*front
	for i := range others {
		all.Go(func() {
			others[i], _ = openFront(t, place(fmt.Sprint("n", i+1)), filepath.Join(dir, fmt.Sprint("n", i+1)))
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	f, stop = openMoved(t, filepath.Join(dir, "n0"), place("n0"))
	defer stop()
	for _, at := range []*front{f, others[0], others[1]} {
		at.stillHas(made, coder, file.Digest)
		if got := at.keys(); got != keys {
			t.Errorf("the keys are %q, not %q", got, keys)
		}
	}
	if _, err := others[1].as(coder.Text).Accept(t.Context(), made.Task+".h1", api.AcceptInput{}); err != nil {
		t.Error(err)
	}

	restoreTo(t, back, server.Place{}, backUp(t, filepath.Join(dir, "n1"), server.Place{}))
	f, stop = openMoved(t, back, server.Place{})
	defer stop()
	f.stillHas(made, coder, file.Digest)
	if task, err := f.boss.Task(t.Context(), made.Task); err != nil || task.Owner != "coder" {
		t.Errorf("what was done in the cluster is not there: %+v, %v", task, err)
	}
}

// makes makes what moves: an agent, a file, and a task with the file that is offered to the agent.
func (f *front) makes() (made api.Receipt, coder api.Token, file api.ArtifactInfo) {
	f.Helper()
	coder = f.agent("coder", api.AgentSpec{})
	file, err := f.boss.PutArtifact(f.Context(), strings.NewReader("the plan"), "")
	if err == nil {
		made, err = f.create(file.Digest)
	}
	if err != nil {
		f.Fatal(err)
	}
	return made, coder, file
}

// create creates the task that moves, under the same key each time.
func (f *front) create(digest string) (api.Receipt, error) {
	return f.boss.CreateTask(api.WithKey(f.Context(), "once"), api.CreateInput{
		Intent: "Move", Send: &api.SendInput{To: []string{"coder"}, Content: api.Content{Artifacts: []api.Artifact{{Digest: digest}}}},
	})
}

// keys are the public keys of the log.
func (f *front) keys() string {
	f.Helper()
	var keys strings.Builder
	if err := admin.New(f.boss).ProofKeys(f.Context(), &keys); err != nil {
		f.Fatal(err)
	}
	return keys.String()
}

// stillHas checks that what was made before the move is as it was.
func (f *front) stillHas(made api.Receipt, coder api.Token, digest string) {
	f.Helper()
	again, err := f.create(digest)
	if err != nil || again.Task != made.Task {
		f.Errorf("the same key makes %s, not %s: %v", again.Task, made.Task, err)
	}
	me, err := f.as(coder.Text).Me(f.Context())
	if err != nil || me.Agent != "coder" || me.Token != coder.ID {
		f.Errorf("the token is of %+v, %v", me, err)
	}
	var content bytes.Buffer
	if _, err := f.boss.Artifact(f.Context(), digest, &content); err != nil || content.String() != "the plan" {
		f.Errorf("the artifact is %q, %v", content.String(), err)
	}
}

// verifies checks a receipt with keys, without a server, and that the server still has what it signed.
func (f *front) verifies(receipt []byte, keys string) {
	f.Helper()
	known, err := proof.ParseKeys(keys)
	if err == nil {
		_, err = proof.VerifyReceipt(receipt, known)
	}
	if err != nil {
		f.Errorf("a receipt from before: %v", err)
	}
}
