package openai_test

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/routing/openai"
)

const key = "sk-very-secret-0123456789"

// choices are what the tests offer.
var choices = []routing.Choice{{Agent: "anna", Description: "knows refunds"}, {Agent: "bert"}, {Capability: "sql"}}

func situation() *policy.Situation {
	return &policy.Situation{
		Task:  policy.TaskView{Intent: "refund order 7", Tags: []string{"money"}, Steps: 3},
		Agent: policy.AgentView{Name: "carl", Capabilities: []string{"chat"}}, Envelope: policy.EnvelopeView{Ask: "please refund"},
	}
}

// model is an endpoint that answers as the test says, and keeps what it was asked.
type model struct {
	*httptest.Server
	calls  atomic.Int32
	mu     sync.Mutex
	bodies []string
	auth   []string
}

func serve(t *testing.T, answer http.HandlerFunc) *model {
	t.Helper()
	m := &model{}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.calls.Add(1)
		b, _ := io.ReadAll(r.Body)
		m.mu.Lock()
		m.bodies, m.auth = append(m.bodies, string(b)), append(m.auth, r.Header.Get("Authorization"))
		m.mu.Unlock()
		answer(w, r)
	}))
	m.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(m.Close)
	return m
}

// adviser asks the model, quickly.
func (m *model) adviser(t *testing.T, configure ...func(*openai.Options)) *openai.Adviser {
	t.Helper()
	o := openai.Options{Endpoint: m.URL + "/v1", Model: "m1", Key: key, Backoff: time.Millisecond, Timeout: 30 * time.Second}
	for _, c := range configure {
		c(&o)
	}
	a, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// completion is a chat completion with a content.
func completion(content string) string {
	b, _ := json.Marshal(map[string]any{
		"choices": []any{map[string]any{"finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": content}}},
		"usage":   map[string]any{"total_tokens": 123},
	})
	return string(b)
}

func answering(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(w, body)
	}
}

// says answers with advice of which some fields are others.
func says(fields map[string]any) http.HandlerFunc { return answering(completion(advice(fields))) }

func advice(fields map[string]any) string {
	a := map[string]any{"action": "handoff", "to": "agent:anna", "kind": "warm", "reason": "specialization", "why": "she knows refunds", "confidence": 0.9}
	for k, v := range fields {
		if a[k] = v; v == nil {
			delete(a, k)
		}
	}
	b, _ := json.Marshal(a)
	return string(b)
}
