package mcpapi_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/api/inprocess"
	"github.com/trapezehq/trapeze/internal/api/oauth"
	"github.com/trapezehq/trapeze/internal/api/oauth/oauthtest"
	"github.com/trapezehq/trapeze/internal/usecase"
)

const (
	resourceID = "https://trapeze.example.org/mcp"
	metadata   = `resource_metadata="https://trapeze.example.org/.well-known/oauth-protected-resource/mcp"`
)

// trusting opens a server that accepts the tokens of an issuer.
func trusting(t testing.TB) (*harness, *oauthtest.Issuer) {
	t.Helper()
	i := oauthtest.New(t)
	v, err := oauth.New(oauth.Config{Issuer: i.URL, Resource: resourceID, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return openWith(t, usecase.Options{Issuer: v}, httpapi.Resource(v.Metadata())), i
}

func TestATokenThatDoesNotCountIsToldWhereToGetAnother(t *testing.T) {
	h, i := trusting(t)
	h.token("coder")
	for name, c := range map[string]struct {
		token     string
		status    int
		challenge string
	}{
		"none":             {"", http.StatusUnauthorized, `Bearer realm="trapeze", ` + metadata},
		"another audience": {i.Token("coder", "https://other.example.org/mcp", nil), http.StatusUnauthorized, `Bearer realm="trapeze", error="invalid_token", ` + metadata},
		"no scope": {
			i.Token("coder", resourceID, oauthtest.Claims{"scope": "openid"}), http.StatusForbidden,
			`Bearer realm="trapeze", error="insufficient_scope", scope="trapeze:read", ` + metadata,
		},
		"nobody known": {i.Token("stranger", resourceID, nil), http.StatusForbidden, ""},
	} {
		for _, version := range []string{sessionVersion, statelessVersion} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Mcp-Protocol-Version", version)
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			if c.token != "" {
				req.Header.Set("Authorization", "Bearer "+c.token)
			}
			res, err := inprocess.Transport(h.api).RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			if res.Body.Close(); err != nil {
				t.Fatal(err)
			}
			if got := res.Header.Get("WWW-Authenticate"); res.StatusCode != c.status || got != c.challenge {
				t.Errorf("%s, %s: %d %q %s", name, version, res.StatusCode, got, body)
			}
		}
	}
}

func TestAnIssuersTokenIsGoodForToolsWithinItsScope(t *testing.T) {
	for _, version := range []string{sessionVersion, statelessVersion} {
		h, i := trusting(t)
		h.token("coder")
		reads := h.connect(version, "coder", i.Token("coder", resourceID, oauthtest.Claims{"scope": "trapeze:read"}), nil)
		acts := h.connect(version, "coder", i.Token("coder", resourceID, nil), nil)
		if text, _, refused := acts.try("remember", map[string]any{"text": "The queue is called blue"}); refused {
			t.Fatalf("%s: %s", version, text)
		}
		if text, _, refused := reads.try("recall", map[string]any{"query": "queue"}); refused || !strings.Contains(text, "blue") {
			t.Errorf("%s: looking is refused: %s", version, text)
		}
		text, _, refused := reads.try("remember", map[string]any{"text": "The queue is called red"})
		if !refused || !strings.Contains(text, "not_permitted") || !strings.Contains(text, "trapeze:act") {
			t.Errorf("%s: acting with a token that may only look: %s", version, text)
		}
	}
}

func TestASessionGoesOnWithARenewedTokenOfTheSameScopes(t *testing.T) {
	h, i := trusting(t)
	h.token("coder")
	coder := h.connect(sessionVersion, "coder", i.Token("coder", resourceID, nil), nil)
	s := httptest.NewServer(h.api)
	t.Cleanup(s.Close)
	for name, c := range map[string]struct {
		token  string
		status int
	}{
		"renewed":          {i.Token("coder", resourceID, oauthtest.Claims{"jti": "renewed"}), http.StatusOK},
		"fewer scopes":     {i.Token("coder", resourceID, oauthtest.Claims{"scope": "trapeze:read"}), http.StatusNotFound},
		"another audience": {i.Token("coder", "https://other.example.org/mcp", nil), http.StatusUnauthorized},
		"one of our own":   {h.tokenAt("coder", ""), http.StatusNotFound}, // it may do more
	} {
		if status, answer := post(t, s.URL+"/mcp", c.token, `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`,
			"Mcp-Protocol-Version: "+sessionVersion, "Mcp-Session-Id: "+coder.ID()); status != c.status {
			t.Errorf("%s: %d %.300s", name, status, answer)
		}
	}
}
