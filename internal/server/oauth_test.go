package server

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/oauth"
	"github.com/trapezehq/trapeze/internal/api/oauth/oauthtest"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestAConfiguredIssuersTokensCount(t *testing.T) {
	const resource = "http://127.0.0.1:8727/mcp"
	i := oauthtest.New(t)
	s, err := Open(t.Context(), Config{DataDir: t.TempDir(), Addr: "127.0.0.1:0", OAuth: oauth.Config{Issuer: i.URL, Resource: resource, Claim: "client_id"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	if n := i.Asked("/.well-known/openid-configuration"); n != 0 {
		t.Errorf("the issuer was asked %d times before a token came", n)
	}
	admin, err := client.New(s.URL(), token(t, s), client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	if _, err := admin.RegisterAgent(t.Context(), "writer", client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	if err := me(t, s, i.Token("0oa1", resource, oauthtest.Claims{"client_id": "writer"})); err != nil {
		t.Error(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/mcp", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+i.Token("0oa1", "http://127.0.0.1:1/mcp", oauthtest.Claims{"client_id": "writer"}))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	const want = `Bearer realm="trapeze", error="invalid_token", resource_metadata="http://127.0.0.1:8727/.well-known/oauth-protected-resource/mcp"`
	if got := res.Header.Get("WWW-Authenticate"); res.StatusCode != http.StatusUnauthorized || got != want {
		t.Errorf("%d %s", res.StatusCode, got)
	}
}

func TestHalfAnIssuerIsRefused(t *testing.T) {
	for _, c := range []oauth.Config{
		{Issuer: "https://issuer.example.org"},
		{Resource: "https://trapeze.example.org/mcp"},
		{Claim: "sub"},
		{Issuer: "http://issuer.example.org", Resource: "https://trapeze.example.org/mcp"},
	} {
		if s, err := Open(t.Context(), Config{DataDir: t.TempDir(), Addr: "127.0.0.1:0", OAuth: c}); refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("%+v: %v, %v", c, s, err)
		}
	}
}
