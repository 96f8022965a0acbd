package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// clinic is a server with an erasable record, and what was said of one patient in it.
type clinic struct {
	dir        string
	server     *Server
	admin      admin.Client
	ann, bob   *client.Client
	task, item string
	file       string // digest of an artifact
	words      []string
}

// secret is a word for a place where content can be.
func (k *clinic) secret(place string) string {
	word := "qz" + place + "4711wanda"
	if !slices.Contains(k.words, word) {
		k.words = append(k.words, word)
	}
	return word
}

func openErasable(t *testing.T, dir string) *Server {
	t.Helper()
	s, err := Open(t.Context(), Config{DataDir: dir, Addr: "127.0.0.1:0", Erasable: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

func signedIn(t *testing.T, s *Server, token string) *client.Client {
	t.Helper()
	c, err := client.New(s.URL(), token, client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// treat has two agents treat the patient: the task is open until [clinic.end].
func treat(t *testing.T, s *Server) *clinic {
	t.Helper()
	k := &clinic{dir: s.config.DataDir, server: s, admin: admin.New(signedIn(t, s, token(t, s)))}
	for name, to := range map[string]**client.Client{"ann": &k.ann, "bob": &k.bob} {
		must(t)(k.admin.RegisterAgent(t.Context(), name, client.AgentSpec{}))
		made, err := k.admin.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAgent, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		*to = signedIn(t, s, made.Text)
	}
	info, err := k.ann.PutArtifact(t.Context(), strings.NewReader("x-ray of "+k.secret("file")), "")
	if err != nil {
		t.Fatal(err)
	}
	k.file = info.Digest
	made, err := k.ann.CreateTask(t.Context(), client.CreateInput{
		Intent: "treat " + k.secret("intent"), Tags: []string{"patient-4711"}, Conversation: "visit-9", Start: true,
		Constraints: []client.Constraint{{ID: "quiet", Kind: "security", Text: "do not tell " + k.secret("constraint")}},
		Expected:    client.Expected{Criteria: []string{"names " + k.secret("criterion")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	k.task = made.Task
	must(t)(k.ann.AppendTurn(t.Context(), "visit-9", client.TurnInput{Role: "user", Text: "it hurts, says " + k.secret("turn"), Task: k.task}))
	sent, err := k.ann.Send(t.Context(), k.task, client.SendInput{
		Epoch: made.Epoch, To: []string{"bob"}, Detail: "because of " + k.secret("detail"),
		Content: client.Content{
			Summary: "summary of " + k.secret("summary"), Facts: []client.Point{{ID: "f1", Text: "fact about " + k.secret("fact")}},
			Artifacts: []client.Artifact{{Digest: k.file, Name: "x-ray"}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := k.bob.Accept(t.Context(), sent.Handoff, client.AcceptInput{Render: true})
	if err != nil {
		t.Fatal(err)
	}
	must(t)(k.bob.Progress(t.Context(), k.task, client.ProgressInput{Epoch: got.Epoch, Note: "noted " + k.secret("note")}))
	item, err := k.bob.Remember(t.Context(), client.RememberInput{Title: k.secret("title"), Text: "remember " + k.secret("memory"), Scope: "workspace", Source: client.MemorySource{Task: k.task}})
	if err != nil {
		t.Fatal(err)
	}
	k.item = item.ID
	_, err = k.bob.Ask(t.Context(), k.task, client.AskInput{Epoch: got.Epoch, Question: "which?", Options: []string{k.secret("option"), k.secret("option")}})
	refusedWith(t, err, refusal.Invalid, k.secret("option")) // attempts that are refused are recorded, too
	asked, err := k.bob.Ask(t.Context(), k.task, client.AskInput{Epoch: got.Epoch, Question: "what about " + k.secret("question")})
	if err != nil {
		t.Fatal(err)
	}
	must(t)(k.admin.Answer(t.Context(), asked.Ticket, client.AnswerInput{Answer: "it is " + k.secret("answer")}))
	return k
}

// end completes the task.
func (k *clinic) end(t *testing.T) {
	t.Helper()
	at, err := k.bob.Task(t.Context(), k.task)
	if err != nil {
		t.Fatal(err)
	}
	must(t)(k.bob.Complete(t.Context(), k.task, client.CompleteInput{Epoch: at.Epoch, Result: client.Result{Text: "done for " + k.secret("result")}}))
}

// must fails the test of a call that fails.
func must(t *testing.T) func(any, error) {
	t.Helper()
	return func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
}

// inFiles lists the words that some file of a directory has.
func (k *clinic) inFiles(t *testing.T) (found []string) {
	t.Helper()
	err := filepath.WalkDir(k.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		for _, w := range k.words {
			if bytes.Contains(b, []byte(w)) {
				found = append(found, w+" in "+filepath.Base(name))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// answers is what the server tells its administrator, by the kind of answer; errors included.
func (k *clinic) answers(t *testing.T) map[string]string {
	t.Helper()
	a := k.admin
	text := func(v any, err error) string {
		b, _ := json.Marshal(v)
		if err != nil {
			return err.Error()
		}
		return string(b)
	}
	var export bytes.Buffer
	exported := a.Export(t.Context(), client.ExportOptions{Format: "jsonl"}, &export)
	out := map[string]string{"export": export.String(), "exported": text(nil, exported)}
	shown, err := a.Task(t.Context(), k.task)
	out["task"] = text(shown, err)
	content, err := a.Content(t.Context(), k.task, client.ContentInput{})
	out["content"] = text(content, err)
	trail, err := a.Trail(t.Context(), k.task)
	out["trail"] = text(trail, err)
	for _, w := range k.words {
		found, err := a.SearchMemory(t.Context(), client.MemoryFilter{Query: w})
		out["search"] += text(found.Items, err)
	}
	item, err := a.Memory(t.Context(), k.item, client.MemoryReference{})
	out["item"] = text(item, err)
	talk, err := a.Conversation(t.Context(), "visit-9", client.ConversationOptions{})
	out["conversation"] = text(talk, err)
	drift, err := a.Drift(t.Context(), k.task)
	out["drift"] = text(drift, err)
	tickets, err := a.Tickets(t.Context(), client.TicketFilter{})
	out["tickets"] = text(tickets, err)
	return out
}

// told lists the words that some answer has.
func (k *clinic) told(t *testing.T) (found []string) {
	t.Helper()
	for what, text := range k.answers(t) {
		for _, w := range k.words {
			if strings.Contains(text, w) {
				found = append(found, w+" in "+what)
			}
		}
	}
	return found
}

var patient = admin.SubjectInput{Subject: "tag/patient-4711", Why: "request of 2026-11-20"}

func refusedWith(t *testing.T, err error, code refusal.Code, text string) {
	t.Helper()
	var p *client.Error
	if !errors.As(err, &p) || string(p.Code) != string(code) || !strings.Contains(p.Message, text) {
		t.Fatalf("%v, want %s with %q", err, code, text)
	}
}

// receipt is that of the task's handoff.
func (k *clinic) receipt(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t)(nil, k.admin.HandoffReceipt(t.Context(), k.task+".h1", &b))
	return b.Bytes()
}

// check wants none of the words in the files and the answers.
func (k *clinic) check(t *testing.T) {
	t.Helper()
	for _, found := range slices.Concat(k.inFiles(t), k.told(t)) {
		t.Errorf("there is still %s", found)
	}
	if err := k.server.views.Err(); err != nil {
		t.Error(err)
	}
}

// again stops the server and starts it with a configuration.
func (k *clinic) again(t *testing.T, c Config) {
	t.Helper()
	c.DataDir, c.Addr = k.dir, "127.0.0.1:0"
	var err error
	if k.server, err = Open(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.server.Close(context.Background()) })
	k.admin = admin.New(signedIn(t, k.server, token(t, k.server)))
}

// after wants the same after a restart, with views that are built again, of a verifier, and after a backup and its restore.
func (k *clinic) after(t *testing.T) {
	t.Helper()
	var whole bytes.Buffer
	if _, err := Backup(t.Context(), k.dir, &whole, BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	stop(t, k.server)
	for _, found := range k.inFiles(t) {
		t.Errorf("after the stop there is still %s", found)
	}
	k.guess(t)
	if found := verified(t, k.dir); len(found) > 0 {
		t.Errorf("the verifier finds %v", found)
	}
	if found := views(t, k.dir); len(found) > 0 {
		t.Errorf("the views differ: %v", found)
	}
	if found := missing(t, k.dir); len(found) > 0 {
		t.Errorf("the verifier misses %v", found)
	}
	k.again(t, Config{}) // it stays erasable without the flag
	k.check(t)
	stop(t, k.server)
	k.again(t, Config{RebuildViews: true})
	k.check(t)
	stop(t, k.server)
	k.dir = filepath.Join(t.TempDir(), "restored")
	if _, err := Restore(t.Context(), k.dir, "", Place{}, readers([]*bytes.Buffer{&whole})); err != nil {
		t.Fatal(err)
	}
	if found := verified(t, k.dir); len(found) > 0 {
		t.Errorf("the verifier finds %v in what was restored", found)
	}
	k.again(t, Config{})
	k.check(t)
}

// guess wants no entry to confirm what a note said, by what is recorded of the request.
func (k *clinic) guess(t *testing.T) {
	t.Helper()
	said, err := caller.Caller{Key: "any"}.Digest("progress", tasks.ProgressInput{Task: k.task, Note: "noted qznote4711wanda"}) // not [clinic.secret]: a test may look for other words
	if err != nil {
		t.Fatal(err)
	}
	r, err := OpenRecord(k.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	entries, err := r.Read(t.Context(), 0, 1000)
	requests := 0
	for _, e := range entries {
		if e.Request == said {
			t.Errorf("position %d confirms what the note said", e.Position)
		}
		if e.Request != "" {
			requests++
		}
	}
	if err != nil || requests == 0 {
		t.Errorf("%d of %d entries have a request, %v", requests, len(entries), err)
	}
}
