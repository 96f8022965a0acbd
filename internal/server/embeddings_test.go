package server

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/identity"
)

// sameMeaning is a service of embeddings to which "refund" and "money" are the same, until it is down.
func sameMeaning(t *testing.T, down *atomic.Bool) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Model string
			Input []string
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Model != "small" || r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer sk-1" || down.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		type vector struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var data []vector
		for i, text := range in.Input {
			v := vector{i, []float32{0, 1}}
			if strings.Contains(text, "refund") || strings.Contains(text, "money") {
				v.Embedding = []float32{1, 0}
			}
			data = append(data, v)
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	t.Cleanup(s.Close)
	return s
}

func TestASearchByMeaningUsesTheEmbeddingsOfThePolicyAndDoesWithoutThem(t *testing.T) {
	var down atomic.Bool
	service, dir := sameMeaning(t, &down), t.TempDir()
	t.Setenv("TRAPEZE_LLM_EMBED", "sk-1")
	text := "version: 1\nembeddings: {endpoint: '" + service.URL + "/v1', model: small, api_key_env: TRAPEZE_LLM_EMBED, timeout: 5s}\n"
	if err := os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Config{DataDir: dir, Addr: "127.0.0.1:0", Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	token, err := os.ReadFile(s.AdminTokenFile())
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(s.URL(), strings.TrimSpace(string(token)), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := c.Remember(t.Context(), client.RememberInput{Text: "A full refund within 30 days.", Scope: client.ScopeWorkspace})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Remember(t.Context(), client.RememberInput{Text: "Parcels take four days.", Scope: client.ScopeWorkspace}); err != nil {
		t.Fatal(err)
	}
	if err := s.UseCases.Memories.AddVectors(t.Context(), identity.DefaultWorkspace); err != nil { // as the server does each second
		t.Fatal(err)
	}
	search := func(query string, want ...string) {
		t.Helper()
		page, err := c.SearchMemory(t.Context(), client.MemoryFilter{Query: query})
		if err != nil || len(page.Items) != len(want) || len(want) > 0 && page.Items[0].ID != want[0] {
			t.Errorf("%q finds %+v, %v; want %q", query, page.Items, err, want)
		}
	}
	search("customer wants money", x.ID)
	down.Store(true)
	search("customer wants money")
	search("refund", x.ID)
}
