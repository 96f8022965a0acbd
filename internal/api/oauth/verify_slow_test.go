//go:build slow

package oauth_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/api/oauth/oauthtest"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestWhileTheIssuerIsAwayItsTokensAreNeitherTakenNorRefused(t *testing.T) {
	i := oauthtest.New(t)
	drip := func(w http.ResponseWriter, r *http.Request) {
		for {
			if _, err := w.Write([]byte(" ")); err != nil || r.Context().Err() != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
		}
	}
	document := func(v map[string]any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(v) }
	}
	keys := func(list ...any) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == oauthtest.KeysPath {
				_ = json.NewEncoder(w).Encode(map[string]any{"keys": list})
				return
			}
			document(map[string]any{"issuer": i.URL, "jwks_uri": i.URL + oauthtest.KeysPath})(w, r)
		}
	}
	for name, bad := range map[string]http.HandlerFunc{
		"an error": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "secret detail", http.StatusInternalServerError)
		},
		"nothing there":           http.NotFound,
		"cut off":                 func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"without end":             drip,
		"no JSON":                 func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>secret detail") },
		"another issuer":          document(map[string]any{"issuer": i.URL + "/", "jwks_uri": i.URL + oauthtest.KeysPath}),
		"keys in the clear":       document(map[string]any{"issuer": i.URL, "jwks_uri": "http://keys.example.org/"}),
		"keys in a file":          document(map[string]any{"issuer": i.URL, "jwks_uri": "file:///etc/passwd"}),
		"no keys":                 keys(),
		"a secret for a key":      keys(map[string]any{"kty": "oct", "k": "c2VjcmV0", "alg": "HS256"}),
		"keys that are no object": keys("x", 7, nil),
		"sent elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			v, at := verifier(t, i, nil)
			i.Misbehave(bad)
			token := i.Token("writer", resource, nil)
			if r := refusedWith(t, v, token, refusal.Unavailable); strings.Contains(r.Error(), "secret") {
				t.Error(r)
			}
			asked := i.Asked("/.well-known/openid-configuration")
			refusedWith(t, v, token, refusal.Unavailable)
			if i.Asked("/.well-known/openid-configuration") != asked {
				t.Error("it is asked again at once")
			}
			refusedWith(t, v, i.Token("writer", "another", nil), refusal.Unauthenticated)
			i.Misbehave(nil)
			at.pass(2 * time.Second)
			if _, err := v.Vouch(t.Context(), token); err != nil {
				t.Errorf("when it is back: %v", err)
			}
		})
	}
}
