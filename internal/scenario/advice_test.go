package scenario

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/server"
)

// modelKey is the secret of the stand-in for a language model.
const modelKey = "sk-stand-in-0123456789"

// advised is a server whose policy has one rule and, if that does not match, a stand-in for a language model.
type advised struct {
	t      *testing.T
	url    string
	admin  *api.Client
	calls  atomic.Int32
	answer atomic.Pointer[http.HandlerFunc]
}

func openAdvised(t *testing.T, rule string) *advised {
	t.Helper()
	a := &advised{t: t}
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.calls.Add(1)
		if got := r.Header.Get("Authorization"); got != "Bearer "+modelKey {
			t.Errorf("authorization %q", got)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		(*a.answer.Load())(w, r)
	}))
	t.Cleanup(model.Close)
	t.Setenv("TRAPEZE_LLM_KEY", modelKey)
	file := filepath.Join(t.TempDir(), "policy.yaml")
	text := "version: 1\nrules:\n" + rule + "llm:\n  endpoint: " + model.URL + "/v1\n  model: stand-in\n  api_key_env: TRAPEZE_LLM_KEY\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s, err := server.Open(t.Context(), server.Config{DataDir: dir, Record: recordOf(t, dir), Addr: "127.0.0.1:0", Policy: file})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	token, err := os.ReadFile(s.AdminTokenFile())
	if err != nil {
		t.Fatal(err)
	}
	a.url, a.admin = s.URL(), dial(t, s.URL(), strings.TrimSpace(string(token)))
	return a
}

func dial(t *testing.T, url, token string) *api.Client {
	t.Helper()
	c, err := api.New(url, token, api.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// agent adds an agent that is ready and returns its client.
func (a *advised) agent(name string, spec api.AgentSpec) *api.Client {
	a.t.Helper()
	ctx := a.t.Context()
	if _, err := a.admin.RegisterAgent(ctx, name, spec); err != nil {
		a.t.Fatal(err)
	}
	if _, err := a.admin.SetReadiness(ctx, name, api.Ready); err != nil {
		a.t.Fatal(err)
	}
	token, err := a.admin.CreateToken(ctx, api.TokenInput{Role: api.RoleAgent, Name: name})
	if err != nil {
		a.t.Fatal(err)
	}
	return dial(a.t, a.url, token.Text)
}

// says makes the model advise, with some fields of its answer changed.
func (a *advised) says(fields map[string]any) {
	advice := map[string]any{"action": "handoff", "to": "agent:anna", "kind": "warm", "reason": "specialization", "why": "anna knows refunds", "confidence": 0.8}
	maps.Copy(advice, fields)
	content, _ := json.Marshal(advice)
	body, _ := json.Marshal(map[string]any{
		"choices": []any{map[string]any{"finish_reason": "stop", "message": map[string]any{"content": string(content)}}}, "usage": map[string]any{"total_tokens": 321},
	})
	a.does(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	})
}

func (a *advised) does(h http.HandlerFunc) { a.answer.Store(&h) }

// task makes a task that an agent works on.
func (a *advised) task(c *api.Client, in api.CreateInput) string {
	a.t.Helper()
	in.Start = true
	r, err := c.CreateTask(a.t.Context(), in)
	if err != nil {
		a.t.Fatal(err)
	}
	return r.Task
}

// taken returns the advice in a task's record, and whether one is in the entry of a handoff's request.
func (a *advised) taken(c *api.Client, task string) (list []event.AdviceTaken, requests int) {
	a.t.Helper()
	trail, err := c.Trail(a.t.Context(), task)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, e := range trail.Entries {
		switch e.Event {
		case event.AdviceTaken{}.EventName():
			var x event.AdviceTaken
			if err := json.Unmarshal(e.Details, &x); err != nil {
				a.t.Fatal(err)
			}
			if strings.Contains(string(e.Details), modelKey) {
				a.t.Error("the key is recorded")
			}
			list = append(list, x)
		case event.HandoffRequested{}.EventName():
			requests++
		}
	}
	return list, requests
}

const invoices = "  - name: invoices\n    when: {keywords: [invoice]}\n    then: {to: {agent: bert}}\n"

func TestWhereNoRuleMatchesTheModelsAdviceIsTakenAndRecorded(t *testing.T) {
	a := openAdvised(t, invoices)
	carl := a.agent("carl", api.AgentSpec{})
	a.agent("anna", api.AgentSpec{Description: "knows refunds"})
	a.agent("bert", api.AgentSpec{})
	a.says(nil)
	task := a.task(carl, api.CreateInput{Intent: "refund order 7"})
	r, err := carl.Send(t.Context(), task, api.SendInput{Epoch: 1, To: []string{"auto"}})
	if err != nil || len(r.To) != 1 || r.To[0] != "anna" || r.Decision == nil || r.Decision.Rule != event.AdviceRule {
		t.Fatalf("%+v, %v", r, err)
	}
	list, requests := a.taken(carl, task)
	if len(list) != 1 || requests != 1 || a.calls.Load() != 1 {
		t.Fatalf("%d recorded, %d handoffs, %d calls", len(list), requests, a.calls.Load())
	}
	got := list[0]
	if got.Outcome != event.AdvisedHandOff || got.To.Agent != "anna" || got.Model != "stand-in" || got.Tokens != 321 || got.Confidence != 0.8 ||
		got.Why != "anna knows refunds" || got.Policy == "" || !strings.Contains(got.Prompt, "refund order 7") || !strings.Contains(got.Answer, "agent:anna") {
		t.Errorf("%+v", got)
	}
	h, err := carl.Handoff(t.Context(), r.Handoff)
	if err != nil || h.Reason != "specialization" || h.Detail != "anna knows refunds" {
		t.Errorf("%+v, %v", h, err)
	}
	paid := a.task(carl, api.CreateInput{Intent: "the invoice of order 7"})
	r, err = carl.Send(t.Context(), paid, api.SendInput{Epoch: 1, To: []string{"auto"}})
	if err != nil || r.To[0] != "bert" || a.calls.Load() != 1 {
		t.Errorf("a rule matches: %+v, %v, %d calls", r, err, a.calls.Load())
	}
}
