//go:build slow || outside

package scenario

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/server"
)

// mover is a server from or to which a workspace moves.
type mover struct {
	*testing.T
	url   string
	owner admin.Client
}

// newMover starts a server, with its record in its data directory, or on the engine that stories run on.
func newMover(t *testing.T, onEngine bool) *mover {
	t.Helper()
	dir := t.TempDir()
	var place server.Place
	if onEngine {
		place = recordOf(t, dir)
	}
	s, err := server.Open(context.Background(), server.Config{DataDir: dir, Record: place, Addr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	text, err := os.ReadFile(s.AdminTokenFile())
	if err != nil {
		t.Fatal(err)
	}
	m := &mover{T: t, url: s.URL()}
	m.owner = admin.New(m.as(strings.TrimSpace(string(text))))
	return m
}

func (m *mover) as(token string) *api.Client {
	m.Helper()
	c, err := api.New(m.url, token, api.Options{})
	if err != nil {
		m.Fatal(err)
	}
	m.Cleanup(c.Close)
	return c
}

// moves moves the workspace red to another server.
func (m *mover) moves(to *mover) admin.Move {
	m.Helper()
	ctx := m.Context()
	if _, err := m.owner.MoveWorkspace(ctx, "red", admin.MoveInput{To: to.url}); err != nil {
		m.Fatal(err)
	}
	var file, keys bytes.Buffer
	if err := m.owner.ExportWorkspace(ctx, "red", &file); err != nil {
		m.Fatal(err)
	}
	if err := m.owner.ProofKeys(ctx, &keys); err != nil {
		m.Fatal(err)
	}
	moved, err := to.owner.ImportWorkspace(ctx, to.url, keys.String(), &file, func(admin.Move) {})
	if err != nil {
		m.Fatal(err)
	}
	return moved
}

// TestAWorkspaceMovesTwiceWhileATaskIsWorkedOn: from an embedded record to the engine of the stories, and on to another embedded one. The agent goes on with its token and its epoch,
// a call repeated under its key happened once, and each server that it left refuses it with the address of the next.
func TestAWorkspaceMovesTwiceWhileATaskIsWorkedOn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	servers := []*mover{newMover(t, false), newMover(t, true), newMover(t, false)}
	made, err := servers[0].owner.CreateWorkspace(ctx, admin.WorkspaceInput{Name: "red"})
	if err != nil {
		t.Fatal(err)
	}
	boss := servers[0].as(made.Token.Text)
	if _, err := boss.RegisterAgent(ctx, "coder", api.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	token, err := boss.CreateToken(ctx, api.TokenInput{Role: api.RoleAgent, Name: "coder"})
	if err != nil {
		t.Fatal(err)
	}
	first := api.CreateInput{Intent: "fix the tests", Start: true}
	task, err := servers[0].as(token.Text).CreateTask(api.WithKey(ctx, "one"), first)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range servers {
		coder := s.as(token.Text)
		if i > 0 {
			before := servers[i-1].as(token.Text)
			moved := servers[i-1].moves(s)
			if again := servers[i-1].moves(s); again.Entries != moved.Entries || !again.Whole {
				t.Errorf("moved again: %+v, was %+v", again, moved)
			}
			if _, err := before.Progress(ctx, task.Task, api.ProgressInput{Epoch: 1, Note: "too late"}); !errors.Is(err, api.Conflict) || !strings.Contains(err.Error(), s.url) {
				t.Errorf("at the server that it left: %v", err)
			}
			if again, err := coder.CreateTask(api.WithKey(ctx, "one"), first); err != nil || again.Task != task.Task {
				t.Errorf("the first call makes %s: %v", again.Task, err)
			}
		}
		if _, err := coder.Progress(ctx, task.Task, api.ProgressInput{Epoch: 1, Note: "goes on"}); err != nil {
			t.Fatal(err)
		}
		var export, keys bytes.Buffer
		if err := s.as(made.Token.Text).Export(ctx, api.ExportOptions{Format: "proof"}, &export); err != nil {
			t.Fatal(err)
		}
		if err := s.owner.ProofKeys(ctx, &keys); err != nil {
			t.Fatal(err)
		}
		known, err := proof.ParseKeys(keys.String())
		if err != nil {
			t.Fatal(err)
		}
		r, err := proof.VerifyReceipt(export.Bytes(), known)
		if err != nil || len(r.Exports) != i+1 {
			t.Fatalf("server %d: %d exports, %v", i, len(r.Exports), err)
		}
		for _, e := range r.Exports {
			if !e.Whole || e.Moved != (e.Position < r.Entries[len(r.Entries)-1].Position) {
				t.Errorf("server %d: %+v", i, e)
			}
		}
	}
	if _, err := servers[2].as(token.Text).Complete(ctx, task.Task, api.CompleteInput{Epoch: 1, Result: api.Result{Text: "all pass"}}); err != nil {
		t.Error(err)
	}
	if _, err := servers[2].owner.MoveWorkspace(ctx, "default", admin.MoveInput{To: servers[0].url}); !errors.Is(err, api.Invalid) {
		t.Errorf("default: %v", err)
	}
}
