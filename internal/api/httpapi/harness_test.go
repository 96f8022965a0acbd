package httpapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/caller"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/files/artifact/filestore"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view/sqltest"
)

// harness is a server without a courier: only calls have effects.
type harness struct {
	*httptest.Server
	t           testing.TB
	app         *usecase.UseCases
	admin       string
	log         *lockedBuffer
	artifactDir string // the directory of the artifacts
}

// maxArtifact is larger than any other body may be.
const maxArtifact = 3 * httpapi.DefaultMaxBody

// lockedBuffer is a log for concurrent use.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func open(t testing.TB, o httpapi.Options, configure ...func(*http.Server)) *harness {
	t.Helper()
	return openWith(t, o, usecase.Options{}, configure...)
}

// openWith opens a server with options of the use cases, such as an issuer of tokens.
func openWith(t testing.TB, o httpapi.Options, u usecase.Options, configure ...func(*http.Server)) *harness {
	t.Helper()
	return openOn(t, func(l ledger.Ledger) ledger.Ledger { return l }, o, u, configure...)
}

// openOn is openWith on a record that the test makes of the usual one.
func openOn(t testing.TB, record func(ledger.Ledger) ledger.Ledger, o httpapi.Options, u usecase.Options, configure ...func(*http.Server)) *harness {
	t.Helper()
	log, views := sqltest.Open(t)
	h := &harness{t: t, log: &lockedBuffer{}, artifactDir: t.TempDir()}
	store, err := filestore.Open(h.artifactDir, filestore.Options{MaxSize: maxArtifact, MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	u.Artifacts = store
	if h.app, err = usecase.New(record(log), views.Store(), u); err != nil {
		t.Fatal(err)
	}
	if h.admin, err = h.app.Tokens.Bootstrap(t.Context(), identity.DefaultWorkspace); err != nil {
		t.Fatal(err)
	}
	o.Log = slog.New(slog.NewTextHandler(h.log, nil))
	h.Server = httptest.NewUnstartedServer(httpapi.New(&h.app.Surface, o))
	for _, c := range configure {
		c(h.Config)
	}
	h.Start()
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// as returns a client for a token.
func (h *harness) as(token string) *client.Client {
	h.t.Helper()
	c, err := client.New(h.URL, token, client.Options{Retries: -1})
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

// agent registers an agent, and returns a client and token for it.
func (h *harness) agent(name string) (*client.Client, string) {
	h.t.Helper()
	admin := h.as(h.admin)
	if _, err := admin.RegisterAgent(h.t.Context(), name, client.AgentSpec{}); err != nil {
		h.t.Fatal(err)
	}
	if _, err := admin.SetReadiness(h.t.Context(), name, client.Ready); err != nil {
		h.t.Fatal(err)
	}
	t, err := admin.CreateToken(h.t.Context(), client.TokenInput{Role: client.RoleAgent, Name: name})
	if err != nil {
		h.t.Fatal(err)
	}
	return h.as(t.Text), t.Text
}

// reply is a response.
type reply struct {
	status int
	header http.Header
	body   string
}

func (r reply) problem(t testing.TB) endpoint.Problem {
	t.Helper()
	var p endpoint.Problem
	if err := json.Unmarshal([]byte(r.body), &p); err != nil {
		t.Fatalf("%d is no problem document: %s", r.status, r.body)
	}
	return p
}

// call makes a request as it would be typed: "POST /v1/tasks", with headers as "Name: value".
func (h *harness) call(token, line, body string, headers ...string) reply {
	h.t.Helper()
	method, path, _ := strings.Cut(line, " ")
	req, err := http.NewRequestWithContext(h.t.Context(), method, h.URL+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
		if name == "Host" {
			req.Host = value
		}
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, string(b)}
}

// mustBe returns the caller of a token.
func mustBe(t testing.TB, h *harness, token string) caller.Caller {
	t.Helper()
	c, err := h.app.Tokens.Authenticate(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// prompt is the context that a reader gets.
func prompt(t *testing.T, who *client.Client, id string) string {
	t.Helper()
	s, err := who.Content(t.Context(), id, client.ContentInput{Render: true})
	if err != nil {
		t.Fatal(err)
	}
	return s.Prompt
}

// reads is what was recorded of the reads of an agent, as JSON.
func (h *harness) reads(agent string) string {
	h.t.Helper()
	var b strings.Builder
	if err := h.as(h.admin).Export(h.t.Context(), client.ExportOptions{}, &b); err != nil {
		h.t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(b.String()) {
		if strings.Contains(line, `"kind":"access","id":"`+agent+`"`) && strings.Contains(line, "content-read") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}
