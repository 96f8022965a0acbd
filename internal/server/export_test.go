package server

import (
	"bytes"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// exported is an export of proofs.
func exported(t *testing.T, c *client.Client, task string) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.Export(t.Context(), client.ExportOptions{Task: task, Format: "proof"}, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// newest is what the last export in a receipt says that there was.
func newest(t *testing.T, r proof.Receipt) proof.Export {
	t.Helper()
	if len(r.Exports) == 0 {
		t.Fatalf("nothing says how many entries there were: %+v", r.Entries)
	}
	return r.Exports[len(r.Exports)-1]
}

// without is an export without the proof of one entry.
func without(t *testing.T, text string, left int) (string, proof.Inclusion) {
	t.Helper()
	list, err := proof.ParseInclusions([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for i, p := range list {
		if i != left {
			out = p.Append(out)
		}
	}
	return string(out), list[left]
}

// TestNothingIsLeftOutOfAnExportUnseen has two workspaces, of which the auditor of one sees nothing of the other.
func TestNothingIsLeftOutOfAnExportUnseen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	c := owner(t, s)
	paid(t, s)
	other, err := admin.New(c).CreateWorkspace(t.Context(), admin.WorkspaceInput{Name: "other", Bearer: "alma"})
	if err != nil {
		t.Fatal(err)
	}
	in := func(token string) *client.Client {
		made, err := client.New(s.URL(), token, client.Options{Retries: -1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(made.Close)
		return made
	}
	alma := in(other.Token.Text)
	token := func(role client.Role, name string) *client.Client {
		made, err := alma.CreateToken(t.Context(), client.TokenInput{Role: role, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		return in(made.Text)
	}
	if _, err := alma.RegisterAgent(t.Context(), "ann", client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	ann, otto := token(client.RoleAgent, "ann"), token(client.RoleAuditor, "otto")
	item, err := ann.Remember(t.Context(), client.RememberInput{Text: "the patient is allergic"})
	if err != nil {
		t.Fatal(err)
	}
	task, err := ann.CreateTask(t.Context(), client.CreateInput{Intent: "pay", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateTask(t.Context(), client.CreateInput{Intent: "pay elsewhere"}); err != nil {
		t.Fatal(err)
	}

	text := exported(t, otto, "")
	whole := proven(t, c, text)
	if e := newest(t, whole); !e.Whole || e.Of != "other" || e.Has != int64(len(whole.Entries)-1) || len(whole.Withheld) > 0 { // the entry of the export comes after those that it counts
		t.Errorf("%+v, %d entries", e, len(whole.Entries))
	}
	for i := range whole.Entries[:len(whole.Entries)-1] {
		less, left := without(t, text, i)
		if e := newest(t, proven(t, c, less)); e.Whole || e.Has != e.Entries-1 {
			t.Errorf("without entry %d, %s: %+v", left.Index+1, left.Entry, e)
		}
	}

	if _, err := ann.Forget(t.Context(), item.ID); err != nil {
		t.Fatal(err)
	}
	again := proven(t, c, exported(t, otto, ""))
	if e := newest(t, again); !e.Whole || len(again.Withheld) == 0 || len(again.Exports) != 2 || !again.Exports[0].Whole {
		t.Errorf("what is withheld does not count: %+v, withheld %v", again.Exports, again.Withheld)
	}
	own := exported(t, ann, task.Task)
	if e := newest(t, proven(t, c, own)); !e.Whole || e.Of != "other/task/"+task.Task {
		t.Errorf("the export of a task: %+v", e)
	}
	less, _ := without(t, own, 0)
	if e := newest(t, proven(t, c, less)); e.Whole {
		t.Errorf("the export of a task without its first entry: %+v", e)
	}

	stop(t, s)
	if found := verified(t, dir); len(found) > 0 {
		t.Errorf("the counts of exports, made again: %v", found)
	}
}
