//go:build outside

package memories_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/routing/openai"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
)

// TestTheRecallWithARealModel measures the labelled queries of package search with the model at the endpoint that
// TRAPEZE_EMBEDDINGS names. There is none in the repository, so it is skipped without one.
func TestTheRecallWithARealModel(t *testing.T) {
	endpoint := os.Getenv("TRAPEZE_EMBEDDINGS")
	if endpoint == "" {
		t.Skip("TRAPEZE_EMBEDDINGS names no endpoint")
	}
	e, err := openai.NewEmbedder(openai.EmbedOptions{Endpoint: endpoint, Model: "model", Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile("../../record/view/sqlview/search/testdata/recall.json")
	if err != nil {
		t.Fatal(err)
	}
	var set struct {
		Items []struct {
			ID, Title, Text string
			Tags            []string
		}
		Queries []struct {
			Kind, Part, Text string
			Want             []string
		}
	}
	if err := json.Unmarshal(b, &set); err != nil {
		t.Fatal(err)
	}
	h, names := open(t), map[string]string{}
	h.meaning = memories.Options{Embedder: func(string) routing.Embedder { return e }}
	h.restart()
	for _, x := range set.Items {
		item := h.remember(agent("ann"), memories.RememberInput{Title: x.Title, Text: x.Text, Tags: x.Tags, Scope: memory.Workspace})
		names[item.ID] = x.ID
	}
	h.addVectors(nil)
	found, all := map[string]float64{}, map[string]float64{}
	for _, q := range set.Queries {
		hit := 0.0
		for _, id := range h.finds(agent("bob"), memories.SearchInput{Text: q.Text, Limit: 5}) {
			if slices.Contains(q.Want, names[id]) {
				hit = 1
			}
		}
		for _, name := range []string{q.Part, q.Kind, "all"} {
			found[name] += hit
			all[name]++
		}
		if hit == 0 {
			t.Logf("%s %s: %q does not find %q", q.Part, q.Kind, q.Text, q.Want)
		}
	}
	for name, n := range all {
		found[name] /= n
	}
	t.Log(found)
}
