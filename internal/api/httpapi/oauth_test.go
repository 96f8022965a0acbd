package httpapi_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/api/oauth"
	"github.com/trapezehq/trapeze/internal/api/oauth/oauthtest"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase"
)

const (
	resource = "https://trapeze.example.org/mcp"
	metadata = `resource_metadata="https://trapeze.example.org/.well-known/oauth-protected-resource/mcp"`
)

// trusting opens a server that accepts the tokens of an issuer; its clock is ahead of the issuer by late.
func trusting(t testing.TB, late func() time.Duration) (*harness, *oauthtest.Issuer) {
	t.Helper()
	i := oauthtest.New(t)
	now := func() time.Time { return time.Now().Add(late()) }
	v, err := oauth.New(oauth.Config{Issuer: i.URL, Resource: resource, Now: now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return openWith(t, httpapi.Options{
		Resource: httpapi.Resource(v.Metadata()), Hosts: []string{"trapeze.example.org"}, Heartbeat: 10 * time.Millisecond,
	}, usecase.Options{Issuer: v}), i
}

func onTime() time.Duration { return 0 }

func TestAnIssuersTokenIsTheAgentsThatItNames(t *testing.T) {
	h, i := trusting(t, onTime)
	h.agent("writer")
	token := i.Token("writer", resource, oauthtest.Claims{"jti": "j-1"})
	for range 2 {
		if r := h.call(token, "POST /v1/tasks", `{"intent":"x","start":true}`); r.status != http.StatusCreated {
			t.Fatal(r)
		}
	}
	var me client.Me
	r := h.call(token, "GET /v1/me", "")
	if err := json.Unmarshal([]byte(r.body), &me); err != nil || me.Agent != "writer" || me.Role != client.RoleAgent || me.Workspace != "default" ||
		!strings.HasPrefix(me.Token, "oauth:") || strings.Join(me.Scopes, " ") != "trapeze:read trapeze:act" {
		t.Fatal(r)
	}
	record := h.call(h.admin, "GET /v1/audit/export?format=jsonl", "").body
	if n := strings.Count(record, `"principal-vouched"`); n != 1 {
		t.Errorf("the token is recorded %d times", n)
	}
	for _, line := range strings.Split(record, "\n") {
		if strings.Contains(line, `"task-created"`) && !strings.Contains(line, `"agent":"writer"`) {
			t.Errorf("the record does not say who made it: %s", line)
		}
		vouched := strings.Contains(line, `"principal-vouched"`)
		if vouched && (!strings.Contains(line, i.URL) || !strings.Contains(line, `"j-1"`) || !strings.Contains(line, me.Token)) {
			t.Errorf("the record does not say who vouched: %s", line)
		}
		if strings.Contains(line, token) || strings.Contains(line, strings.Split(token, ".")[2]) {
			t.Error("the token is recorded")
		}
	}
	if p := h.call(token, "GET /v1/tokens", "").problem(t); p.Code != refusal.NotPermitted {
		t.Errorf("an issuer's token is more than an agent's: %+v", p)
	}
}

func TestAnIssuersTokenIsNotOfTheNextAgentOfItsName(t *testing.T) {
	h, i := trusting(t, func() time.Duration { return 40 * time.Second })
	h.agent("writer")
	ago := time.Now().Add(-time.Minute).Unix()
	ahead := func(jti string, by time.Duration) oauthtest.Claims { // by an issuer whose clock is ahead
		return oauthtest.Claims{"jti": jti, "iat": time.Now().Add(by).Unix()}
	}
	old := map[string]string{
		"used": i.Token("writer", resource, ahead("used", 20*time.Second)), "unused": i.Token("writer", resource, oauthtest.Claims{"iat": ago}),
		"unused, of a clock that is ahead": i.Token("writer", resource, ahead("unused", 29*time.Second)),
		"without iat":                      i.Token("writer", resource, oauthtest.Claims{"iat": nil}),
	}
	for _, which := range []string{"used", "without iat"} {
		if r := h.call(old[which], "GET /v1/me", ""); r.status != http.StatusOK {
			t.Fatalf("%s: %v", which, r)
		}
	}
	if _, err := h.as(h.admin).RemoveAgent(t.Context(), "writer"); err != nil {
		t.Fatal(err)
	}
	h.agent("writer")
	for which, token := range old {
		if r := h.call(token, "GET /v1/me", ""); r.status != http.StatusUnauthorized || !strings.Contains(r.body, "registered again") {
			t.Errorf("%s: %v", which, r)
		}
	}
	next := i.Token("writer", resource, ahead("next", 45*time.Second))
	if r := h.call(next, "GET /v1/me", ""); r.status != http.StatusOK || !strings.Contains(r.body, `"writer~2"`) {
		t.Errorf("a token of the second: %v", r)
	}
}

func TestATokenThatDoesNotCountIsToldWhereToGetAnother(t *testing.T) {
	h, i := trusting(t, onTime)
	_, own := h.agent("writer")
	other := oauthtest.New(t)
	for name, token := range map[string]string{
		"another audience":     i.Token("writer", "https://other.example.org/mcp", nil),
		"another issuer":       other.Token("writer", resource, nil),
		"a forger":             other.Token("writer", resource, oauthtest.Claims{"iss": i.URL}),
		"expired":              i.Token("writer", resource, oauthtest.Claims{"exp": time.Now().Add(-time.Hour).Unix()}),
		"not yet":              i.Token("writer", resource, oauthtest.Claims{"nbf": time.Now().Add(time.Hour).Unix()}),
		"unsigned":             oauthtest.Unsigned(t, map[string]any{"alg": "none"}, oauthtest.Claims{"iss": i.URL, "sub": "writer", "aud": resource}, nil),
		"opaque":               "2YotnFZFEjr1zCsicMWpAA",
		"half a token of ours": own[:len(own)-1],
	} {
		r := h.call(token, "GET /v1/me", "")
		if p := r.problem(t); r.status != http.StatusUnauthorized || p.Code != refusal.Unauthenticated || p.Hint == "" {
			t.Errorf("%s: %v", name, r)
		}
		if got := r.header.Get("WWW-Authenticate"); got != `Bearer realm="trapeze", error="invalid_token", `+metadata {
			t.Errorf("%s: %s", name, got)
		}
	}
	r := h.call("", "GET /v1/me", "")
	if got := r.header.Get("WWW-Authenticate"); r.status != http.StatusUnauthorized || got != `Bearer realm="trapeze", `+metadata {
		t.Errorf("no token: %v", r)
	}
	plain := open(t, httpapi.Options{})
	if got := plain.call("", "GET /v1/me", "").header.Get("WWW-Authenticate"); got != `Bearer realm="trapeze"` {
		t.Errorf("without an issuer: %s", got)
	}
	if got := plain.call(i.Token("writer", resource, nil), "GET /v1/me", "").header.Get("WWW-Authenticate"); got != `Bearer realm="trapeze", error="invalid_token"` {
		t.Errorf("without an issuer: %s", got)
	}
}

func TestNobodyIsRegisteredByAToken(t *testing.T) {
	h, i := trusting(t, onTime)
	token := i.Token("stranger", resource, nil)
	for range 2 {
		r := h.call(token, "PUT /v1/agents/stranger", `{}`)
		if p := r.problem(t); p.Code != refusal.NotPermitted || !slices.Contains(p.Routes, "PUT /v1/agents/stranger") || r.header.Get("WWW-Authenticate") != "" {
			t.Error(r)
		}
	}
	h.agent("stranger")
	if r := h.call(token, "GET /v1/me", ""); r.status != http.StatusOK {
		t.Errorf("once it is registered: %v", r)
	}
	if r := h.call(h.admin, "DELETE /v1/agents/stranger", ""); r.status != http.StatusOK {
		t.Fatal(r)
	}
	if r := h.call(token, "GET /v1/me", ""); r.status != http.StatusForbidden {
		t.Errorf("once it is removed: %v", r)
	}
}

// changes are the entries other than those of the access log.
func changes(h *harness) string {
	h.t.Helper()
	var kept strings.Builder
	for line := range strings.Lines(h.call(h.admin, "GET /v1/audit/export?format=jsonl", "").body) {
		if !strings.Contains(line, `"kind":"access"`) {
			kept.WriteString(line)
		}
	}
	if kept.Len() == 0 {
		h.t.Fatal("nothing is recorded")
	}
	return kept.String()
}

func TestAnIssuerThatIsAwayBreaksNothingOfOurs(t *testing.T) {
	h, i := trusting(t, onTime)
	_, own := h.agent("writer")
	token := i.Token("writer", resource, nil)
	i.Close()
	r := h.call(token, "GET /v1/me", "")
	if p := r.problem(t); r.status != http.StatusServiceUnavailable || p.Code != refusal.Unavailable || r.header.Get("Retry-After") == "" || r.header.Get("WWW-Authenticate") != "" {
		t.Error(r)
	}
	for _, path := range []string{"/v1/me", "/readyz", "/.well-known/oauth-protected-resource"} {
		if r := h.call(own, "GET "+path, ""); r.status != http.StatusOK {
			t.Errorf("%s: %v", path, r)
		}
	}
}

func TestAStreamAndAWaitEndWithTheToken(t *testing.T) {
	var mu sync.Mutex
	var late time.Duration
	h, i := trusting(t, func() time.Duration { mu.Lock(); defer mu.Unlock(); return late })
	h.agent("writer")
	token := i.Token("writer", resource, nil)
	stream := h.lines(t.Context(), token)
	if !stream.Scan() {
		t.Fatal(stream.Err())
	}
	waited := make(chan reply)
	go func() { waited <- h.call(token, "GET /v1/inbox?wait=1s", "") }()
	for !strings.Contains(stream.Text(), "alive") && stream.Scan() { // it goes on
	}
	mu.Lock()
	late = 2 * time.Hour
	mu.Unlock()
	for stream.Scan() { // until it ends
	}
	if err := stream.Err(); err != nil {
		t.Error(err)
	}
	if r := <-waited; r.status != http.StatusUnauthorized {
		t.Error(r)
	}
}

func TestClientsFindOutWhereTokensAreHad(t *testing.T) {
	h, i := trusting(t, onTime)
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"} {
		r := h.call("", "GET "+path, "", "Host: trapeze.example.org")
		var doc struct {
			Resource string   `json:"resource"`
			Issuers  []string `json:"authorization_servers"`
			Scopes   []string `json:"scopes_supported"`
		}
		if err := json.Unmarshal([]byte(r.body), &doc); err != nil || r.status != http.StatusOK || r.header.Get("Content-Type") != "application/json" ||
			doc.Resource != resource || len(doc.Issuers) != 1 || doc.Issuers[0] != i.URL || len(doc.Scopes) != 2 {
			t.Errorf("%s: %v", path, r)
		}
		if r := h.call("", "GET "+path, "", "Host: evil.example"); r.status != http.StatusForbidden {
			t.Errorf("%s under another name: %v", path, r)
		}
		if r := h.call("", "POST "+path, "{}", "Origin: https://evil.example"); r.status != http.StatusForbidden {
			t.Errorf("%s from another site: %v", path, r)
		}
	}
	token := i.Token("writer", resource, nil)
	for name, header := range map[string]string{"a rebound name": "Host: evil.example:8727", "another site": "Origin: https://evil.example"} {
		if r := h.call(token, "POST /v1/presence", "", header); r.status != http.StatusForbidden {
			t.Errorf("%s: %v", name, r)
		}
	}
	plain := open(t, httpapi.Options{})
	if r := plain.call("", "GET /.well-known/oauth-protected-resource", ""); r.status != http.StatusNotFound {
		t.Errorf("without an issuer: %v", r)
	}
}
