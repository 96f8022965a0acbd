//go:build slow && !race

package scenario

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// furnished makes a data directory in which every table has rows, with artifacts and all keys, and stops its server.
func furnished(t *testing.T, args ...string) (program, dir string) {
	t.Helper()
	return furnishedUntil(t, (*rig).term, args...)
}

// killed kills the server once its tree has all entries.
func (r *rig) killed() error {
	r.Helper()
	e := &evidence{TB: r.TB, dir: r.dir}
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		last := int64(0)
		if err := e.db("mode=ro", func(ctx context.Context, db *sql.DB) error {
			return db.QueryRowContext(ctx, "SELECT max(position) FROM entries").Scan(&last)
		}); err != nil {
			return err
		}
		checkpoint := strings.Split(string(e.read("proof/checkpoint")), "\n")
		if proof.Leaves(int64(len(e.read("proof/tree")))) == last && checkpoint[1] == fmt.Sprint(last) {
			r.kill()
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the tree does not reach position %d", last)
		}
	}
}

// furnishedUntil is a furnished directory whose server is ended by a function.
func furnishedUntil(t *testing.T, end func(*rig) error, args ...string) (program, dir string) {
	t.Helper()
	service := httptest.NewServer(http.HandlerFunc(embed))
	defer service.Close()
	r := newRig(t, t.TempDir(), "")
	r.program = append(buildProgram(t), args...)
	text := "version: 1\nrules:\n  - {name: billing, when: {keywords: [invoice]}, then: {to: {capability: billing}}}\nembeddings: {endpoint: '" + service.URL + "/v1', model: small}\n"
	if err := os.WriteFile(filepath.Join(r.dir, "policy.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	url := r.start()
	boss := r.client(url, r.token)
	furnish(r, url, boss)
	e := &evidence{TB: t, dir: r.dir}
	for deadline := time.Now().Add(patience); len(e.empty()) > 0; time.Sleep(200 * time.Millisecond) { // vectors follow the record, and cursors are written with later entries
		if _, err := boss.CreateTask(t.Context(), api.CreateInput{Intent: "one more"}); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatalf("these tables have no rows: %q", e.empty())
		}
	}
	boss.Close()
	if err := end(r); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "data")
	if err := errors.Join(os.Remove(filepath.Join(r.dir, recordName+".reserve")), os.CopyFS(dir, os.DirFS(r.dir))); err != nil {
		t.Fatal(err)
	}
	return r.program[0], dir
}

// embed answers as a service of embeddings.
func embed(w http.ResponseWriter, r *http.Request) {
	var in struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	type vector struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var data []vector
	for i, text := range in.Input {
		data = append(data, vector{i, []float32{float32(len(text)), 1, float32(i)}})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data}) // the client notices
}

// empty are the tables without rows, but for those that full-text indexes may leave empty.
func (e *evidence) empty() (list []string) {
	e.Helper()
	err := e.db("mode=ro", func(ctx context.Context, db *sql.DB) error {
		names, err := query(ctx, db, tables)
		for _, row := range names {
			rows, qerr := query(ctx, db, fmt.Sprint("SELECT 1 FROM ", row[0], " LIMIT 1"))
			if err = errors.Join(err, qerr); len(rows) == 0 {
				list = append(list, fmt.Sprint(row[0]))
			}
		}
		return err
	})
	if err != nil {
		e.Fatal(err)
	}
	return list
}

// furnish has agents do a little of everything.
func furnish(r *rig, url string, boss *api.Client) {
	r.Helper()
	ctx := r.Context()
	must := func(err error) {
		r.Helper()
		if err != nil {
			r.Fatal(err)
		}
	}
	as := map[string]*api.Client{}
	for _, name := range []string{"ann", "bob", "cy"} {
		_, err := boss.RegisterAgent(ctx, name, api.AgentSpec{Capabilities: []string{"billing"}})
		must(err)
		made, err := boss.CreateToken(ctx, api.TokenInput{Role: api.RoleAgent, Name: name})
		must(err)
		as[name] = r.client(url, made.Text)
		r.Cleanup(as[name].Close)
	}
	ann, bob := as["ann"], as["bob"]
	for i := range 4 {
		file, err := ann.PutArtifact(ctx, strings.NewReader(strings.Repeat(fmt.Sprint("line ", i, " of the contract; "), 100*(i+1))), "")
		must(err)
		_, err = ann.AppendTurn(ctx, "orders", api.TurnInput{Role: api.SpeakerUser, Text: fmt.Sprint("the order number ", i)})
		must(err)
		made, err := ann.CreateTask(ctx, api.CreateInput{
			Intent: fmt.Sprint("pay the invoice ", i, strings.Repeat(" in full, line by line", 60)), Start: true, Conversation: "orders", Tags: []string{"patient"}, Subject: "patient/4711",
			Content: api.Content{Notes: strings.Repeat("all that is known; ", 50), Artifacts: []api.Artifact{{Digest: file.Digest}}}, Send: &api.SendInput{To: []string{"bob"}},
		})
		must(err)
		_, err = ann.AppendTurn(ctx, fmt.Sprint("call-", i), api.TurnInput{Role: api.SpeakerUser, Text: "be quick", Task: made.Task})
		must(err)
		got, err := bob.Accept(ctx, made.Handoff, api.AcceptInput{})
		must(err)
		_, err = bob.Remember(ctx, api.RememberInput{Text: fmt.Sprint("A full refund within ", i, " days."), Title: "refunds", Scope: api.ScopeWorkspace, Tags: []string{"money"}, Task: made.Task})
		must(err)
		if i < 2 {
			_, err = bob.Complete(ctx, made.Task, api.CompleteInput{Epoch: got.Epoch, Result: api.Result{Text: "paid 900"}})
			must(err)
		}
		if i == 3 {
			_, err = ann.CreateTask(ctx, api.CreateInput{Intent: "count what was paid", Dependencies: []string{made.Task}})
			must(err)
			_, err = bob.Ask(ctx, made.Task, api.AskInput{Epoch: got.Epoch, Question: "pay it all?"})
			must(err)
		}
	}
	_, err := ann.CreateTask(ctx, api.CreateInput{Intent: "look into the invoice", Start: true, Send: &api.SendInput{To: []string{api.Auto}}})
	must(err)
	_, err = ann.CreateTask(ctx, api.CreateInput{Intent: "translate it", Start: true, Send: &api.SendInput{Capability: "billing", Kind: api.Broadcast}})
	must(err)
	_, err = ann.CreateTask(ctx, api.CreateInput{Intent: "read both", Start: true, Send: &api.SendInput{To: []string{"bob", "cy"}, Kind: api.Broadcast, FanOut: true}})
	must(err)
	_, err = boss.CreateTask(ctx, api.CreateInput{Intent: "wait for somebody", Send: &api.SendInput{To: []string{"cy"}}})
	must(err)
	_, err = ann.CreateChannel(ctx, api.ChannelInput{Name: "news"})
	must(err)
	_, err = admin.New(boss).CreateWorkspace(ctx, admin.WorkspaceInput{Name: "lab"})
	must(err)
	_, err = admin.New(boss).RotateKey(ctx, "yearly")
	must(err)
}
