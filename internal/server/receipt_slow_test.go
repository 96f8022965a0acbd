//go:build slow

package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

func TestNothingChangedHasNoReceipt(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	task := paid(t, s)
	c := owner(t, s)
	call := func(prefer, path, body string) (int, http.Header, map[string]any) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token(t, s))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Prefer", prefer)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		var v map[string]any
		if err == nil {
			err = json.Unmarshal(b, &v)
		}
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		return res.StatusCode, res.Header, v
	}
	for _, tt := range []struct {
		prefer, path, body string
		status             int
		receipt, missing   bool
	}{
		{"return=minimal, Receipt;x=1", "/v1/tasks", `{"intent":"pay"}`, 201, true, false},
		{"return=minimal", "/v1/tasks", `{"intent":"pay"}`, 201, false, false},
		{strings.Repeat("unknown, ", 100), "/v1/tasks", `{"intent":"pay"}`, 201, false, false},
		{"receipt", "/v1/tasks/" + task + "/cancel", `{}`, 409, false, false},
		{"receipt", "/v1/tasks/" + task + "x/cancel", `{}`, 400, false, false},
		{"receipt", "/v1/proof/check", `{"checkpoint":` + quoted(t, c) + `}`, 200, false, true},
	} {
		status, h, v := call(tt.prefer, tt.path, tt.body)
		_, receipt := v["receipt"]
		_, missing := v["receipt_missing"]
		if applied := h.Get("Preference-Applied") == "receipt"; status != tt.status || receipt != tt.receipt || missing != tt.missing || applied != tt.receipt {
			t.Errorf("%+v: %d %v %v", tt, status, h, v)
		}
	}
}

func quoted(t *testing.T, c *client.Client) string {
	t.Helper()
	var b bytes.Buffer
	if err := admin.New(c).Checkpoint(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	q, err := json.Marshal(b.String())
	if err != nil {
		t.Fatal(err)
	}
	return string(q)
}

func TestTheReceiptOfAPositionIsForThoseWhoReadItsEntryWhole(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	c := owner(t, s)
	for _, name := range []string{"ann", "eve"} {
		if _, err := c.RegisterAgent(t.Context(), name, client.AgentSpec{}); err != nil {
			t.Fatal(err)
		}
	}
	ann, eve, otto := as(t, s, client.RoleAgent, "ann"), as(t, s, client.RoleAgent, "eve"), as(t, s, client.RoleAuditor, "otto")
	other, err := admin.New(c).CreateWorkspace(t.Context(), admin.WorkspaceInput{Name: "other", Bearer: "alma"})
	if err != nil {
		t.Fatal(err)
	}
	alma, err := client.New(s.URL(), other.Token.Text, client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer alma.Close()
	r, err := ann.CreateTask(t.Context(), client.CreateInput{Intent: "pay"})
	if err != nil {
		t.Fatal(err)
	}
	at := func(c *client.Client, position uint64) (string, error) {
		var b bytes.Buffer
		err := admin.New(c).ReceiptAt(context.WithoutCancel(t.Context()), position, &b)
		return b.String(), err
	}
	for _, c := range []*client.Client{ann, otto, owner(t, s)} {
		text, err := at(c, r.Position)
		if err != nil {
			t.Fatal(err)
		}
		if got := proven(t, c, text); len(got.Entries) != 1 || uint64(got.Entries[0].Position) != r.Position {
			t.Errorf("%+v", got)
		}
	}
	for _, c := range []*client.Client{eve, alma} {
		if text, err := at(c, r.Position); !errors.Is(err, client.NotFound) {
			t.Errorf("%s, %v", text, err)
		}
	}
	for _, position := range []uint64{1 << 40, 0} {
		if text, err := at(c, position); err == nil {
			t.Errorf("%d: %s", position, text)
		}
	}
}

func TestTheAnswerToAChangeHasItsReceiptIfAskedFor(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	c := owner(t, s)
	agents := map[string]*client.Client{}
	for _, name := range []string{"ann", "bob"} {
		var r admin.Receipt
		if _, err := c.RegisterAgent(admin.WithReceipt(t.Context(), &r), name, client.AgentSpec{}); err != nil {
			t.Fatal(err)
		}
		if got := proven(t, c, r.Text); len(got.Entries) != 1 || !strings.HasSuffix(string(got.Entries[0].Stream), "/agent/"+name) {
			t.Errorf("the receipt of the registration of %s shows %+v", name, got.Entries)
		}
		agents[name] = as(t, s, client.RoleAgent, name)
	}
	var asked, accepted, done, again admin.Receipt
	ctx := client.WithKey(t.Context(), client.NewKey())
	in := client.CreateInput{Intent: "pay the invoice", Start: true, Send: &client.SendInput{To: []string{"bob"}}}
	r, err := agents["ann"].CreateTask(admin.WithReceipt(ctx, &asked), in)
	if err != nil {
		t.Fatal(err)
	}
	got, err := agents["bob"].Accept(admin.WithReceipt(t.Context(), &accepted), r.Handoff, client.AcceptInput{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := agents["bob"].Complete(admin.WithReceipt(t.Context(), &done), r.Task, client.CompleteInput{Epoch: got.Epoch, Result: client.Result{Text: "paid 900"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := agents["ann"].CreateTask(admin.WithReceipt(ctx, &again), in); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{asked.Text: "handoff-request", accepted.Text: "handoff-acknowledgment", done.Text: "task-completed", again.Text: "handoff-request"} {
		shown := proven(t, c, text)
		if !slices.ContainsFunc(shown.Entries, func(e proof.Proven) bool { return slices.Contains(e.Events, want) }) {
			t.Errorf("no entry of %+v has %s", shown.Entries, want)
		}
	}
	if a, b := proven(t, c, asked.Text), proven(t, c, again.Text); a.Entries[0].Position != b.Entries[0].Position {
		t.Errorf("the call was repeated, and its receipt is of %d and then of %d", a.Entries[0].Position, b.Entries[0].Position)
	}
}
