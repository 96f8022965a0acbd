//go:build slow

package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/usecase"
)

func TestWhatWasForgottenIsInNoContentTrailOrDrift(t *testing.T) {
	const secret = "swordfish"
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	lead, _ := h.agent("lead")
	coder, _ := h.agent("coder")
	task, item, share := forgets(t, h, lead, coder, secret)
	late, _ := h.agent("late")
	admin := h.as(h.admin)
	for name, read := range map[string]func() (any, error){
		"the requester":        func() (any, error) { return lead.Content(ctx, task, client.ContentInput{Render: true}) },
		"the owner":            func() (any, error) { return coder.Content(ctx, task, client.ContentInput{Render: true}) },
		"the owner's handoff":  func() (any, error) { return coder.Content(ctx, task+".h1", client.ContentInput{Render: true}) },
		"the owner, as sent":   func() (any, error) { return coder.Content(ctx, task, client.ContentInput{Source: true}) },
		"in another major":     func() (any, error) { return coder.Content(ctx, task, client.ContentInput{Majors: []int{1}}) },
		"an admin":             func() (any, error) { return admin.Content(ctx, task, client.ContentInput{Render: true}) },
		"a share":              func() (any, error) { return late.Content(ctx, share, client.ContentInput{Render: true}) },
		"the requester's copy": func() (any, error) { return lead.Content(ctx, share, client.ContentInput{Render: true}) },
		"a trail":              func() (any, error) { return coder.Trail(ctx, task) },
		"a trail of an admin":  func() (any, error) { return admin.Trail(ctx, task) },
		"drift":                func() (any, error) { return lead.Drift(ctx, task) },
	} {
		got, err := read()
		if err != nil {
			if name != "the requester's copy" {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if raw, err := json.Marshal(got); err != nil || bytes.Contains(raw, []byte(secret)) {
			t.Errorf("%s: %v %s", name, err, raw)
		}
		if s, is := got.(client.Sheet); is {
			checkRedacted(t, name, s, item, name != "a share")
		}
	}
}

// checkRedacted checks that a sheet is a copy that says what it lacks.
func checkRedacted(t *testing.T, name string, s client.Sheet, item string, isCopy bool) {
	t.Helper()
	doc, digest, err := envelope.Open(s.Envelope)
	if err != nil || digest != s.Digest || isCopy == (s.Sealed == "") || s.Sealed == s.Digest {
		t.Errorf("%s: %v: the digest is %s of %s, sealed %q", name, err, digest, s.Digest, s.Sealed)
	}
	if len(doc.Gaps) != 1 || doc.Gaps[0].ID != item || doc.Gaps[0].Reason != envelope.GapForgotten || !doc.Packing.IsZero() && doc.Packing.Completeness != 0 {
		t.Errorf("%s: the gaps are %+v, completeness %v", name, doc.Gaps, doc.Packing.Completeness)
	}
}

// The report is about what the receiver was given then, whatever became of it.
func TestDriftCountsAReferenceAsGivenThoughItsItemWasForgottenSince(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	lead, _ := h.agent("lead")
	coder, _ := h.agent("coder")
	x, err := lead.Remember(ctx, client.RememberInput{Text: "It is swordfish.", Scope: client.ScopeWorkspace})
	if err != nil {
		t.Fatal(err)
	}
	content := client.Content{Memory: []client.MemoryAsk{{ID: x.ID}}}
	for i := range 60 {
		content.Facts = append(content.Facts, client.Point{ID: fmt.Sprint("point-", i*i), Text: strings.Repeat("a long fact ", 20), Importance: 0.1})
	}
	sent, err := lead.CreateTask(ctx, client.CreateInput{Intent: "fix the login", Content: content, Send: &client.SendInput{
		To: []string{"coder"}, Pack: client.Pack{Tokens: 400},
	}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := coder.Accept(ctx, sent.Handoff, client.AcceptInput{Render: true})
	if err != nil || !strings.Contains(got.Content.Prompt, "swordfish") || strings.Contains(got.Content.Prompt, "point-9") {
		t.Fatalf("%+v, %v", got, err)
	}
	before, err := lead.Drift(ctx, sent.Task)
	if err != nil || before.Retention.References.Surviving != 1 {
		t.Fatalf("%+v, %v", before.Retention, err)
	}
	if _, err := lead.Forget(ctx, x.ID); err != nil {
		t.Fatal(err)
	}
	after, err := lead.Drift(ctx, sent.Task)
	if err != nil || after.Retention != before.Retention {
		t.Errorf("%+v, %v; before it was forgotten: %+v", after.Retention, err, before.Retention)
	}
}

// An envelope that is taken out and imported is the claimed history of a new task, with the texts of its memory items.
func TestWhatWasForgottenIsInNoClaimedHistory(t *testing.T) {
	const secret = "swordfish"
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	lead, _ := h.agent("lead")
	coder, _ := h.agent("coder")
	late, _ := h.agent("late")
	admin := h.as(h.admin)
	made, err := admin.CreateToken(ctx, client.TokenInput{Role: client.RoleAuditor, Name: "auditor"})
	if err != nil {
		t.Fatal(err)
	}
	auditor := h.as(made.Text)
	x, err := lead.Remember(ctx, client.RememberInput{Title: "title " + secret, Text: "it is " + secret, Scope: client.ScopeWorkspace})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := lead.CreateTask(ctx, client.CreateInput{
		Intent: "fix the login", Content: client.Content{Memory: []client.MemoryAsk{{ID: x.ID}}}, Send: &client.SendInput{To: []string{"coder"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := coder.Accept(ctx, sent.Handoff, client.AcceptInput{})
	if err != nil || !bytes.Contains(got.Content.Envelope, []byte(secret)) {
		t.Fatalf("%+v, %v", got, err)
	}
	trail, err := json.Marshal([]json.RawMessage{got.Content.Envelope})
	if err != nil {
		t.Fatal(err)
	}
	foreign := `{"from_agent":"a","to_agent":"b","handoff_reason":"capability","task_context":{"summary":"fix it"},"audit_trail":` + string(trail) + `}`
	var tasks []string
	receive := func(r client.Receipt) {
		if _, err := late.Accept(ctx, r.Handoff, client.AcceptInput{}); err != nil {
			t.Fatal(err)
		}
		tasks = append(tasks, r.Task)
	}
	take := func() {
		for _, doc := range []string{string(got.Content.Envelope), foreign} {
			r, err := coder.ImportTask(ctx, client.ImportInput{Document: json.RawMessage(doc), To: []string{"late"}})
			if err != nil {
				t.Fatal(err)
			}
			receive(r.Receipt)
		}
		r, err := coder.CreateTask(ctx, client.CreateInput{Intent: "once more", Claimed: trail, Send: &client.SendInput{To: []string{"late"}}})
		if err != nil {
			t.Fatal(err)
		}
		receive(r)
	}
	take()
	if _, err := lead.Forget(ctx, x.ID); err != nil {
		t.Fatal(err)
	}
	take()
	checkClaimedHistories(t, secret, tasks, map[string]*client.Client{"late": late, "coder": coder, "an auditor": auditor, "an admin": admin})
}

func checkClaimedHistories(t *testing.T, secret string, tasks []string, readers map[string]*client.Client) {
	t.Helper()
	ctx := t.Context()
	for i, task := range tasks {
		for name, c := range readers {
			if tr, err := c.Trail(ctx, task); err == nil {
				raw, err := json.Marshal(tr)
				if err != nil || bytes.Contains(raw, []byte(secret)) || !bytes.Contains(raw, []byte(`"forgotten"`)) {
					t.Errorf("the trail of task %d for %s: %v %s", i, name, err, raw)
				}
			} else {
				t.Errorf("the trail of task %d for %s: %v", i, name, err)
			}
			for _, format := range []string{"", "json", "csv"} {
				var out bytes.Buffer
				if err := c.Export(ctx, client.ExportOptions{Task: task, Format: format}, &out); err != nil || strings.Contains(out.String(), secret) {
					t.Errorf("task %d as %q for %s: %v %s", i, format, name, err, out.String())
				}
			}
		}
		var out bytes.Buffer
		if err := readers["an admin"].Export(ctx, client.ExportOptions{Task: task, Forgotten: true}, &out); err != nil || !strings.Contains(out.String(), secret) {
			t.Errorf("an operator that asks for it: %v %s", err, out.String())
		}
	}
}

// counting is a ledger that counts the reads of the streams of memory items.
type counting struct {
	ledger.Ledger
	mu    sync.Mutex
	reads map[string]int
}

func (c *counting) Stream(ctx context.Context, s ledger.Stream, after ledger.Position, limit int) ([]ledger.Entry, error) {
	if _, kind, id := s.Parts(); kind == "memory" {
		c.mu.Lock()
		c.reads[id]++
		c.mu.Unlock()
	}
	return c.Ledger.Stream(ctx, s, after, limit)
}

func TestAnAnswerLooksOnceForWhatWasForgotten(t *testing.T) {
	c := &counting{reads: map[string]int{}}
	h := openOn(t, func(l ledger.Ledger) ledger.Ledger { c.Ledger = l; return c }, httpapi.Options{}, usecase.Options{})
	lead, _ := h.agent("lead")
	coder, _ := h.agent("coder")
	task, item, _ := forgets(t, h, lead, coder, "swordfish")
	for n := range 3 { // more envelopes that refer to it
		now, err := coder.Task(t.Context(), task)
		if err != nil {
			t.Fatal(err)
		}
		from, to := coder, lead
		if n%2 == 1 {
			from, to = lead, coder
		}
		sent, err := from.Send(t.Context(), task, client.SendInput{Epoch: now.Epoch, To: []string{[]string{"lead", "coder"}[n%2]}, Detail: fmt.Sprint(n), Content: client.Content{Decisions: []client.Point{{Text: fmt.Sprint("again ", n)}}}})
		if err == nil {
			_, err = to.Accept(t.Context(), sent.Handoff, client.AcceptInput{Offer: sent.Offer})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{
		"/v1/tasks/" + task + "/trail", "/v1/tasks/" + task + "/drift", "/v1/tasks/" + task + "/content?render=true",
		"/v1/audit/export?format=jsonl&task=" + task, "/v1/audit/export?format=json&task=" + task, "/v1/audit/export?format=jsonl",
	} {
		clear(c.reads)
		if r := h.call(h.admin, "GET "+path, ""); r.status != http.StatusOK {
			t.Errorf("%s: %v", path, r)
		}
		if n := c.reads[item]; n > 1 {
			t.Errorf("%s loads the item %d times", path, n)
		}
	}
}
