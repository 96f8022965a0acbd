//go:build slow

package openai_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/routing/openai"
)

type misdeed struct {
	name    string
	answer  http.HandlerFunc
	message string
	tries   int
}

// TestAnEndpointThatMisbehavesGivesNoAdvice: whatever comes, the error is a refusal that says what went wrong.
func TestAnEndpointThatMisbehavesGivesNoAdvice(t *testing.T) {
	for _, c := range misbehaviour() {
		t.Run(c.name, func(t *testing.T) {
			m := serve(t, c.answer)
			got, err := m.adviser(t, func(o *openai.Options) { o.Retries = 2 }).Advise(t.Context(), "agent/carl", situation(), choices)
			r, ok := refusal.As(err)
			if !ok || r.Code != refusal.Unavailable || !strings.Contains(r.Message, c.message) || r.Hint == "" {
				t.Fatalf("%v, want %q", err, c.message)
			}
			if int(m.calls.Load()) != c.tries || got.Told.Tries != c.tries {
				t.Errorf("%d calls, %d told, want %d", m.calls.Load(), got.Told.Tries, c.tries)
			}
			if got.HandOff || got.Agent != "" || got.Told.Prompt == "" {
				t.Errorf("%+v", got)
			}
			if strings.Contains(err.Error()+fmt.Sprint(got), key) {
				t.Error("the key is told")
			}
		})
	}
}

// misbehaviour is what an endpoint may do, what is said of it, and how often it is tried with two retries.
func misbehaviour() []misdeed {
	typed := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	whole := completion(advice(nil))
	return []misdeed{
		{"500", typed(500, "application/json", "{}"), "answers 500", 3},
		{"503 with another type", typed(503, "text/html", "<html>"), "answers 503", 3},
		{"429", typed(429, "application/json", "{}"), "answers 429", 3},
		{"400", typed(400, "application/json", "{}"), "answers 400", 1},
		{"401 that quotes the key", typed(401, "application/json", "bad key "+key), "does not accept the key (401)", 1},
		{"204", typed(204, "application/json", ""), "answers 204", 1},
		{"another type", typed(200, "text/html", whole), "does not answer with JSON", 1},
		{"no type", typed(200, "", whole), "does not answer with JSON", 1},
		{"a stream of events", typed(200, "text/event-stream", "data: "+whole), "does not answer with JSON", 1},
		{"truncated", answering(whole[:len(whole)/2]), "not a chat completion", 3},
		{"no JSON", answering("I think anna."), "not a chat completion", 3},
		{"a list", answering("[]"), "not a chat completion", 3},
		{"empty", answering(""), "not a chat completion", 3},
		{"no choices", answering(`{"choices":[]}`), "no choices", 3},
		{"null choices", answering(`{"choices":null}`), "no choices", 3},
		{"an error as success", answering(`{"error":{"message":"overloaded"}}`), "no choices", 3},
		{"empty content", answering(completion(" ")), "empty", 3},
		{"null content", answering(`{"choices":[{"message":{"content":null}}]}`), "empty", 3},
		{"a refusal", answering(`{"choices":[{"message":{"refusal":"I cannot"}}]}`), "refuses to answer", 1},
		{"too long for its tokens", answering(`{"choices":[{"finish_reason":"length","message":{"content":"{"}}]}`), "more than 400 tokens", 1},
		{"huge", answering(`{"x":"` + strings.Repeat("x", 300<<10) + `"}`), "longer than", 1},
		{"prose", answering(completion("Anna should have it.")), "does not have the required form", 1},
		{"fenced JSON", answering(completion("```json\n" + advice(nil) + "\n```")), "does not have the required form", 1},
		{"two answers", answering(completion(advice(nil) + advice(nil))), "more text after the JSON", 1},
		{"an unknown field", says(map[string]any{"permissions": "all"}), "does not have the required form", 1},
		{"an unknown agent", says(map[string]any{"to": "agent:zoe"}), `"agent:zoe", which it was not offered`, 1},
		{"an agent that was not offered", says(map[string]any{"to": "agent:carl"}), "not offered", 1},
		{"an agent without its id", says(map[string]any{"to": "anna"}), "not offered", 1},
		{"nobody", says(map[string]any{"to": "none"}), "not offered", 1},
		{"a kind that is not allowed", says(map[string]any{"kind": "broadcast"}), `the kind "broadcast"`, 1},
		{"no kind at all", says(map[string]any{"kind": nil}), "the kind", 1},
		{"a kind that is none", says(map[string]any{"kind": "hot"}), "does not have the required form", 1},
		{"a reason that is not allowed", says(map[string]any{"reason": "supervision"}), "the reason", 1},
		{"an action that is none", says(map[string]any{"action": "delete"}), "does not have the required form", 1},
		{"no action", says(map[string]any{"action": nil}), "what to do", 1},
		{"too sure", says(map[string]any{"confidence": 1.5}), "confidence", 1},
		{"less than unsure", says(map[string]any{"confidence": -1}), "confidence", 1},
		{"not sure how sure", says(map[string]any{"confidence": nil}), "confidence", 1},
		{"sure in words", says(map[string]any{"confidence": "very"}), "does not have the required form", 1},
		{"no why", says(map[string]any{"why": " \u200b"}), "does not say why", 1},
		{"closed before the answer", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "cannot be reached", 3},
		{"broken off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "5000")
			_, _ = io.WriteString(w, whole[:10])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, "broke off", 3},
		{"endless headers", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Long", strings.Repeat("x", 128<<10))
		}, "cannot be reached", 3},
	}
}

func TestAnEndpointThatRecoversIsAskedAgain(t *testing.T) {
	var calls atomic.Int32
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		says(nil)(w, r)
	})
	got, err := m.adviser(t, func(o *openai.Options) { o.Retries = 1 }).Advise(t.Context(), "agent/carl", situation(), choices)
	if err != nil || got.Agent != "anna" || got.Told.Tries != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestNobodyWaitsLongerThanTheTimeout(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	hang := func(first string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, first)
			if first != "" {
				_ = http.NewResponseController(w).Flush()
			}
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
	}
	for name, c := range map[string]struct {
		answer  http.HandlerFunc
		message string
	}{
		"slow":           {hang(""), "longer than 50ms"},
		"hangs mid-body": {hang(`{"choices":[`), "longer than 50ms"},
		"absurd Retry-After": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "99999999999999999999")
			w.WriteHeader(http.StatusTooManyRequests)
		}, "answers 429"},
		"long Retry-After": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "86400")
			w.WriteHeader(http.StatusTooManyRequests)
		}, "24h0m0s, beyond the timeout"},
		"Retry-After with a date": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", time.Now().Add(48*time.Hour).UTC().Format(http.TimeFormat))
			w.WriteHeader(http.StatusServiceUnavailable)
		}, "beyond the timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			m := serve(t, c.answer)
			_, err := m.adviser(t, func(o *openai.Options) {
				o.Retries = 3
				if strings.Contains(c.message, "50ms") {
					o.Timeout = 50 * time.Millisecond
				}
			}).Advise(t.Context(), "agent/carl", situation(), choices)
			if refusal.CodeOf(err) != refusal.Unavailable || !strings.Contains(err.Error(), c.message) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	other := serve(t, says(nil))
	for _, status := range []int{301, 302, 303, 307, 308} {
		m := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, status) })
		_, err := m.adviser(t).Advise(t.Context(), "agent/carl", situation(), choices)
		if refusal.CodeOf(err) != refusal.Unavailable || !strings.Contains(err.Error(), "redirect") {
			t.Errorf("%d: %v", status, err)
		}
	}
	if n := other.calls.Load(); n != 0 {
		t.Errorf("the other host was called %d times", n)
	}
}

func TestACertificateThatNobodyVouchesForIsNoEndpoint(t *testing.T) {
	s := httptest.NewTLSServer(says(nil))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer s.Close()
	m := &model{Server: s}
	_, err := m.adviser(t).Advise(t.Context(), "agent/carl", situation(), choices)
	if refusal.CodeOf(err) != refusal.Unavailable || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("%v", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	trusting := m.adviser(t, func(o *openai.Options) { o.TLS = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12} })
	if got, err := trusting.Advise(t.Context(), "agent/carl", situation(), choices); err != nil || got.Agent != "anna" {
		t.Errorf("%+v, %v", got, err)
	}
}
