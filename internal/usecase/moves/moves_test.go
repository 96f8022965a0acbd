package moves_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/files/artifact/filestore"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/move"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/history"
	"github.com/trapezehq/trapeze/internal/usecase/moves"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/tokens"
	"github.com/trapezehq/trapeze/internal/usecase/workspaces"
)

const there = "https://b.example.org"

var errFull = fmt.Errorf("%w: the test says so", ledger.ErrUnavailable)

// limited is a ledger that refuses appends after so many.
type limited struct {
	ledger.Ledger
	left   atomic.Int64
	before func(ledger.Entry) // is called before each append; nil: nothing is
}

func (l *limited) Append(ctx context.Context, e ledger.Entry, expect ledger.Position) (ledger.Position, error) {
	if l.left.Add(-1) < 0 {
		return 0, errFull
	}
	if l.before != nil {
		l.before(e)
	}
	return l.Ledger.Append(ctx, e, expect)
}

// whole returns all entries of a ledger, whose reads lag.
func whole(ctx context.Context, l ledger.Ledger) (list []ledger.Entry, err error) {
	last, err := l.Last(ctx)
	if err != nil {
		return nil, err
	}
	err = ledger.Through(ctx, l, 0, last, func(e *ledger.Entry) error {
		list = append(list, *e)
		return nil
	})
	return list, err
}

// tree is the tree of a ledger, made again for each question.
type tree struct {
	history.Keyring
	ledger          ledger.Ledger
	private, public string
}

func (t tree) Keys() string { return t.public + "\n" }

func (t tree) Checkpoint() (proof.Checkpoint, []byte) { return proof.Checkpoint{}, nil }

func (t tree) all(ctx context.Context) (*proof.Tree, []proof.Hash, error) {
	tree, stored := new(proof.Tree), []proof.Hash(nil)
	list, err := whole(ctx, t.ledger)
	for _, e := range list {
		stored = tree.Append(proof.Leaf(e), stored)
	}
	return tree, stored, err
}

func (t tree) Await(ctx context.Context, _ ledger.Position) (proof.Checkpoint, []byte, error) {
	signer, err := note.NewSigner(t.private)
	if err != nil {
		return proof.Checkpoint{}, nil, err
	}
	all, _, err := t.all(ctx)
	if err != nil {
		return proof.Checkpoint{}, nil, err
	}
	c := proof.Checkpoint{Origin: signer.Name(), Size: all.Size(), Root: all.Root()}
	signed, err := c.Sign(signer)
	return c, signed, err
}

func (t tree) ReadHashes(indexes []int64) (list []proof.Hash, err error) {
	_, stored, err := t.all(context.Background())
	for _, i := range indexes {
		list = append(list, stored[i])
	}
	return list, err
}

// side is one of two servers.
type side struct {
	*testing.T
	ledger *limited
	app    *usecase.UseCases
	files  artifact.Store
}

var owner = as(identity.DefaultWorkspace, identity.Admin, "ann")

func as(workspace string, role identity.Role, name string) caller.Caller {
	return caller.Caller{Principal: identity.Principal{Workspace: workspace, Role: role, Name: name}}
}

func open(t *testing.T, name string) *side {
	t.Helper()
	l := ledgertest.NewDouble(ledgertest.Faults{Seed: 1, Lag: 5 * time.Millisecond})
	t.Cleanup(func() { _ = l.Close() })
	files, err := filestore.Open(t.TempDir(), filestore.Options{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	return frontEnd(t, name, l, files)
}

// frontEnd is one of the front ends of a server.
func frontEnd(t *testing.T, name string, l ledger.Ledger, files artifact.Store) *side {
	t.Helper()
	s := &side{T: t, ledger: &limited{Ledger: l}, files: files}
	s.ledger.left.Store(1 << 40)
	views, err := sqlview.Follow(context.Background(), s.ledger, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := views.Close(); err != nil {
			t.Error(err)
		}
	})
	private, public, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		t.Fatal(err)
	}
	if s.app, err = usecase.New(s.ledger, views.Store(), usecase.Options{Artifacts: s.files, Tree: tree{ledger: s.ledger, private: private, public: public}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.app.Close)
	return s
}

// furnish makes the workspace red, with agents, a token and a task that is being worked on, beside another workspace. It returns the text of the token of an agent, and the task.
func (s *side) furnish() (token, task string) {
	s.Helper()
	ctx := s.Context()
	for _, name := range []string{"red", "blue"} {
		if _, err := s.app.Workspaces.Create(ctx, owner, workspaces.WorkspaceInput{Name: name, Bearer: "ann"}); err != nil {
			s.Fatal(err)
		}
		boss, coder := as(name, identity.Admin, "ann"), as(name, identity.Agent, "coder")
		if _, err := s.app.Agents.Register(ctx, boss, agents.RegisterInput{Name: "coder", Spec: agents.AgentSpec{}}); err != nil {
			s.Fatal(err)
		}
		made, err := s.app.Tokens.Create(ctx, boss, tokens.TokenInput{Role: identity.Agent, Name: "coder"})
		if err != nil {
			s.Fatal(err)
		}
		r, err := s.app.Tasks.Create(ctx, coder.WithKey("one"), &tasks.CreateInput{Intent: "of " + name, Start: true})
		if err != nil {
			s.Fatal(err)
		}
		for range 3 {
			if _, err := s.app.Tasks.Progress(ctx, coder, tasks.ProgressInput{Task: r.Task, Epoch: 1, Note: "goes on"}); err != nil {
				s.Fatal(err)
			}
		}
		if _, err := s.app.Artifacts.Put(ctx, coder, strings.NewReader("a patch of "+name), ""); err != nil {
			s.Fatal(err)
		}
		if name == "red" {
			token, task = made.Text, r.Task
		}
	}
	return token, task
}

// file has red move, and returns its file.
func (s *side) file() []byte {
	s.Helper()
	if _, err := s.app.Moves.Leave(s.Context(), owner, moves.LeaveInput{Name: "red", To: there}); err != nil {
		s.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.app.Moves.Write(s.Context(), owner, "red", &b); err != nil {
		s.Fatal(err)
	}
	return b.Bytes()
}

// put stores a file in parts.
func (s *side) put(file []byte, size int) (list []artifact.Digest) {
	s.Helper()
	for len(file) > 0 {
		part := file[:min(size, len(file))]
		info, err := s.files.Put(s.Context(), identity.DefaultWorkspace, bytes.NewReader(part))
		if err != nil {
			s.Fatal(err)
		}
		list, file = append(list, info.Digest), file[len(part):]
	}
	return list
}

func (s *side) receive(file []byte) (moves.Move, error) {
	return s.app.Moves.Import(s.Context(), owner, moves.ReceiveInput{To: there, Parts: s.put(file, 1000)})
}

// entries are those of a workspace and its tokens, without positions, and those that say what was received.
func (s *side) entries(name string) (list [][]byte) {
	s.Helper()
	all, err := whole(s.Context(), s.ledger)
	if err != nil {
		s.Fatal(err)
	}
	for _, e := range all {
		of, kind, _ := e.Stream.Parts()
		b, err := e.Encode()
		if err != nil {
			s.Fatal(err)
		}
		if of == name || kind == "token" && strings.Contains(string(b), `"workspace":"`+name+`"`) {
			list = append(list, b)
		}
	}
	return list
}

func (s *side) refuses(err error, code refusal.Code) {
	s.Helper()
	if refusal.CodeOf(err) != code {
		s.Errorf("got %v, want %s", err, code)
	}
}

// TestAnImportThatIsInterruptedGoesOn has the ledger fail after some entries. Until all are there, no token of the workspace counts.
func TestAnImportThatIsInterruptedGoesOn(t *testing.T) {
	a := open(t, "a")
	token, task := a.furnish()
	file := a.file()
	interrupt(t, a, file, token, task, 5)
}

// interrupt imports a file into a ledger that fails after so many entries, and again. It reports whether it failed.
func interrupt(t *testing.T, a *side, file []byte, token, task string, after int) (failed bool) {
	t.Helper()
	b := open(t, "b")
	b.ledger.left.Store(int64(after))
	_, err := b.receive(file)
	b.ledger.left.Store(1 << 40)
	if failed = err != nil; failed {
		b.refuses(err, refusal.Unavailable)
		if _, err := b.app.Tokens.Authenticate(t.Context(), token); err == nil {
			t.Errorf("after %d entries the token counts", after)
		}
	}
	m, err := b.receive(file)
	if err != nil || !m.Whole || m.Here != m.Entries {
		t.Fatalf("after %d entries: %+v, %v", after, m, err)
	}
	want, got := a.entries("red"), b.entries("red")
	if len(got) != len(want)+1 || !bytes.Contains(got[len(got)-1], []byte(proof.Received)) || !slices.EqualFunc(want, got[:len(want)], bytes.Equal) {
		t.Fatalf("after %d entries there are\n%s\nnot\n%s\nand one that says so", after, bytes.Join(got, []byte("\n")), bytes.Join(want, []byte("\n")))
	}
	c, err := b.app.Tokens.Authenticate(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.app.Tasks.Progress(t.Context(), c, tasks.ProgressInput{Task: task, Epoch: 1, Note: "goes on"}); err != nil {
		t.Fatal(err)
	}
	if again, err := b.app.Tasks.Create(t.Context(), c.WithKey("one"), &tasks.CreateInput{Intent: "of red", Start: true}); err != nil || again.Task != task {
		t.Fatalf("the repeated call makes %s: %v", again.Task, err)
	}
	return failed
}

// TestAfterAWorkspaceLeftNothingInItChanges: neither agents nor the server change it, and another workspace goes on.
func TestAfterAWorkspaceLeftNothingInItChanges(t *testing.T) {
	a := open(t, "a")
	_, task := a.furnish()
	file := a.file()
	had := len(a.entries("red"))
	ctx := t.Context()
	_, err := a.app.Tasks.Progress(ctx, as("red", identity.Agent, "coder"), tasks.ProgressInput{Task: task, Epoch: 1, Note: "too late"})
	a.refuses(err, refusal.Conflict)
	if r, ok := refusal.As(err); !ok || r.Details["moved_to"] != there {
		t.Errorf("the refusal does not have the address: %v", err)
	}
	last, err := a.ledger.Last(ctx)
	if err != nil {
		t.Fatal(err)
	}
	e := ledger.Entry{Position: last, Actor: ledger.Actor{Principal: "system/courier"}} // the server itself would count an outcome
	if err := a.app.FollowUp.Report(ctx, "red", "coder", e, agent.Unanswered, "agent/lead", task, 1); err != nil {
		t.Error(err)
	}
	_, err = a.app.Workspaces.Restore(ctx, owner, "red")
	a.refuses(err, refusal.Conflict)
	_, err = a.app.Moves.Leave(ctx, owner, moves.LeaveInput{Name: "red", To: "https://c.example.org"})
	a.refuses(err, refusal.Conflict)
	_, err = a.app.Moves.Leave(ctx, as("red", identity.Admin, "ann"), moves.LeaveInput{Name: "blue", To: there})
	a.refuses(err, refusal.NotPermitted)
	for _, e := range a.entries("red")[had:] {
		if !bytes.Contains(e, []byte(`"stream":"red/access/`)) {
			t.Errorf("it changes: %s", e)
		}
	}
	if _, err := a.app.Agents.Register(ctx, as("blue", identity.Admin, "ann"), agents.RegisterInput{Name: "tester", Spec: agents.AgentSpec{}}); err != nil {
		t.Error(err)
	}
	if again := a.file(); len(again) != len(file) {
		t.Errorf("the file has %d bytes when it is made again, had %d", len(again), len(file))
	}
	_, err = a.receive(file)
	a.refuses(err, refusal.Conflict) // the name is taken
}

// TestNothingOfAChangedFileIsWritten changes bytes, and cuts the file off. What is changed without a difference is in nothing that counts, such as the time
// of a member.
func TestNothingOfAChangedFileIsWritten(t *testing.T) {
	a := open(t, "a")
	a.furnish()
	file := a.file()
	refused := 0
	for i := 0; i < len(file); i += step {
		changed := bytes.Clone(file)
		changed[i] ^= 1
		var got entries
		if _, err := move.Read(t.Context(), bytes.NewReader(changed), "", &got); err == nil {
			if !slices.EqualFunc(got, a.entries("red")[:len(got)], bytes.Equal) {
				t.Errorf("byte %d is changed, and the file has other entries", i)
			}
		} else if refused++; !errors.Is(err, move.ErrFormat) && !errors.Is(err, move.ErrDiffers) && !errors.Is(err, move.ErrCut) {
			t.Errorf("byte %d is changed: %v", i, err)
		}
		if _, err := move.Read(t.Context(), bytes.NewReader(file[:i]), "", nil); i < len(file)-2048 && err == nil {
			t.Errorf("a file of %d bytes is whole", i)
		}
	}
	t.Logf("%d bytes, with %d of which changed the file is refused", len(file), refused)
	if refused < len(file)/step/2 {
		t.Errorf("a file of %d bytes is refused with %d of them changed", len(file), refused)
	}

	b := open(t, "b")
	file[len(file)/2] ^= 1
	_, err := b.receive(file)
	b.refuses(err, refusal.Invalid)
	file[len(file)/2] ^= 1
	_, err = b.receive(file[:len(file)/2])
	b.refuses(err, refusal.Invalid)
	in := moves.ReceiveInput{To: "https://c.example.org", Parts: b.put(file, 1000)}
	_, err = b.app.Moves.Import(t.Context(), owner, in)
	b.refuses(err, refusal.Conflict)
	in.To, in.Keys = there, otherKey(t, "a")
	_, err = b.app.Moves.Import(t.Context(), owner, in)
	b.refuses(err, refusal.Invalid)
	_, err = b.app.Moves.Import(t.Context(), as("red", identity.Admin, "ann"), in)
	b.refuses(err, refusal.NotPermitted)
	if all, err := whole(t.Context(), b.ledger); err != nil || slices.ContainsFunc(all, func(e ledger.Entry) bool { _, kind, _ := e.Stream.Parts(); return kind != "access" }) {
		t.Errorf("something was written: %v, %v", all, err)
	}
}

// entries are what a visitor gets.
type entries [][]byte

func (l *entries) Entry(_ context.Context, e ledger.Entry) error {
	b, err := e.Encode()
	*l = append(*l, b)
	return err
}

func (l *entries) File(context.Context, string, io.Reader) error { return nil }

// otherKey is a public key of the same name.
func otherKey(t *testing.T, name string) string {
	t.Helper()
	_, public, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		t.Fatal(err)
	}
	return public
}

// TestChangesThatRunWhileAWorkspaceLeavesMoveOrAreRefused has agents work meanwhile: what was acknowledged is in the file.
func TestChangesThatRunWhileAWorkspaceLeavesMoveOrAreRefused(t *testing.T) {
	a := open(t, "a")
	_, task := a.furnish()
	began, done := make(chan struct{}), make(chan int)
	go func() {
		for n := 0; ; n++ {
			if n == 20 {
				close(began)
			}
			_, err := a.app.Tasks.Progress(context.Background(), as("red", identity.Agent, "coder"), tasks.ProgressInput{Task: task, Epoch: 1, Note: fmt.Sprintf("step %d", n)})
			if err != nil {
				a.refuses(err, refusal.Conflict)
				done <- n
				return
			}
		}
	}()
	<-began
	file := a.file()
	acknowledged := <-done
	b := open(t, "b")
	if _, err := b.receive(file); err != nil {
		t.Fatal(err)
	}
	for n := range acknowledged {
		if text := fmt.Sprintf(`"step %d"`, n); !bytes.Contains(bytes.Join(b.entries("red"), nil), []byte(text)) {
			t.Errorf("%s of %d was acknowledged, and did not move", text, acknowledged)
		}
	}
}

// TestOutcomesCountInACircuitAfterAMove, although the positions of the new record are below those of the old one.
func TestOutcomesCountInACircuitAfterAMove(t *testing.T) {
	a := open(t, "a")
	_, task := a.furnish()
	for n := range 100 { // positions of others
		if _, err := a.app.Tasks.Create(t.Context(), as("blue", identity.Agent, "coder"), &tasks.CreateInput{Intent: fmt.Sprint("task ", n)}); err != nil {
			t.Fatal(err)
		}
	}
	report := func(s *side, at ledger.Position) {
		s.Helper()
		if err := s.app.FollowUp.Report(t.Context(), "red", "coder", ledger.Entry{Position: at, Actor: ledger.Actor{Principal: "system/courier"}}, agent.Unanswered, "agent/lead", task, 1); err != nil {
			s.Fatal(err)
		}
	}
	last, err := a.ledger.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	report(a, last)
	b := open(t, "b")
	m, err := b.receive(a.file())
	if err != nil || m.Position >= last {
		t.Fatalf("%+v, %v", m, err)
	}
	before := len(b.entries("red"))
	report(b, m.Position-2) // the courier sees what moved, which was counted
	if n := len(b.entries("red")); n != before {
		t.Errorf("what moved is counted again")
	}
	report(b, m.Position+1)
	if n := len(b.entries("red")); n != before+1 {
		t.Errorf("a new outcome is not counted: %d entries, were %d", n, before)
	}
}
