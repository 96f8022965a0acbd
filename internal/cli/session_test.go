package cli_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/cli/session"
)

// TestAPersonIsAskedToOpenPagesAlone has an issuer name what a terminal or a browser could run, or what somebody on the way could answer.
func TestAPersonIsAskedToOpenPagesAlone(t *testing.T) {
	var opened, whole string
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	say := func(path string, v func() any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(v())
		})
	}
	say("/.well-known/oauth-protected-resource", func() any {
		return map[string]any{"authorization_servers": []string{srv.URL}, "trapeze_client_id": "trapeze", "trapeze_scope": "openid"}
	})
	say("/.well-known/openid-configuration", func() any {
		return map[string]string{"issuer": srv.URL, "device_authorization_endpoint": srv.URL + "/device", "token_endpoint": srv.URL + "/token"}
	})
	say("/device", func() any {
		return map[string]any{"device_code": "d", "user_code": "ABCD", "verification_uri": opened, "verification_uri_complete": whole, "expires_in": 600}
	})
	for _, c := range []struct {
		opened, whole string
		ok            bool
	}{
		{"https://issuer.example.org/device", "https://issuer.example.org/device?code=ABCD", true},
		{"https://issuer.example.org/device", "", true},
		{"javascript:alert(1)", "", false},
		{"https://issuer.example.org/device", "javascript:alert(1)", false},
		{"http://issuer.example.org/device", "", false},
		{"file:///etc/passwd", "", false},
		{"https://issuer.example.org@evil.example.org/", "", false},
		{"", "", false},
	} {
		opened, whole = c.opened, c.whole
		a, err := session.Begin(t.Context(), srv.Client(), srv.URL)
		if (err == nil) != c.ok || err == nil && a.URL != c.opened || err != nil && !strings.Contains(err.Error(), "neither https nor on this machine") {
			t.Errorf("%q, %q: %+v, %v", c.opened, c.whole, a, err)
		}
	}
}
