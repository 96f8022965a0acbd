//go:build outside

package outside

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/api/mcpapi"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/mcptest"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/view/sqltest"
	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/tokens"
)

// TestConformance runs every scenario for servers that the suite has for a version of the protocol: those that are required,
// those of the Tasks extension, and those that nobody is required to pass yet.
func TestConformance(t *testing.T) {
	for version, least := range map[string]int{"2025-11-25": 33, "2026-07-28": 50} {
		t.Run(version, func(t *testing.T) {
			url := fixtureServer(t)
			results := t.TempDir()
			out := run(t, node(t, "conformance", "server", "--url", url, "--requirements", version, "--output-dir", results))
			passed := scenarios(t, results)
			if len(passed) < least || !strings.Contains(out, "Total: ") {
				t.Errorf("only %d scenarios were run, not %d: %v\n%s", len(passed), least, passed, tail(out))
			}
			t.Log(regexp.MustCompile(`Total: .*`).FindString(out))
		})
	}
}

// scenarios are the names of those that were run. One with a check that failed or only warned fails the test, whether the suite
// counts it or not.
func scenarios(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		names = append(names, name)
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var checks []struct {
			ID, Status, ErrorMessage string
		}
		if err := json.Unmarshal(b, &checks); err != nil {
			t.Fatal(err)
		}
		for _, c := range checks {
			if c.Status == "FAILURE" || c.Status == "WARNING" {
				t.Errorf("%s: %s: %s: %s", name, c.ID, c.Status, c.ErrorMessage)
			}
		}
	}
	return names
}

// fixtureServer is the server's handler with the suite's fixtures, for one agent. The suite has no token to bring: the test
// puts it on every request, which changes nothing else.
func fixtureServer(t *testing.T) (url string) {
	t.Helper()
	log, views := sqltest.Open(t)
	a, err := usecase.New(log, views.Store(), usecase.Options{})
	if err != nil {
		t.Fatal(err)
	}
	token := agentToken(t, a)
	memory := mcptest.NewMemory()
	t.Cleanup(memory.Close)
	quiet := slog.New(slog.DiscardHandler)
	api := httpapi.New(&a.Surface, httpapi.Options{Log: quiet, Version: "test", Mounts: map[string]func(http.Handler) http.Handler{
		"/mcp": func(api http.Handler) http.Handler {
			return mcpapi.NewHandler(api, mcpapi.HandlerOptions{Log: quiet, Options: mcpapi.Options{Version: "test", Tasks: memory}, Make: fixtures(memory)})
		},
	}})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+token)
		api.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections() // the suite leaves streams open
		s.Close()
	})
	return s.URL + "/mcp"
}

// agentToken registers an agent and returns a token for it: /mcp refuses the administrator's.
func agentToken(t *testing.T, a *usecase.UseCases) string {
	t.Helper()
	admin, err := a.Tokens.Bootstrap(t.Context(), identity.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	c, err := a.Tokens.Authenticate(t.Context(), admin)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Agents.Register(t.Context(), c, agents.RegisterInput{Name: "suite"}); err != nil {
		t.Fatal(err)
	}
	made, err := a.Tokens.Create(t.Context(), c, tokens.TokenInput{Role: identity.Agent, Name: "suite"})
	if err != nil {
		t.Fatal(err)
	}
	return made.Text
}

// fixtures makes the server of a principal as the handler would, and adds the fixtures to it.
func fixtures(memory *mcptest.Memory) func(*client.Client, mcpapi.Options) *mcp.Server {
	return func(c *client.Client, o mcpapi.Options) *mcp.Server {
		o.Added = mcptest.Names(memory)
		s := mcpapi.New(c, o)
		mcptest.Add(s, memory)
		return s
	}
}
