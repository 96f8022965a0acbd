//go:build outside

package outside

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// wordless is a text without words: only its vector finds it.
const wordless = "?! … ?!"

// The program of docs/search.md makes vectors with a small model that its package has in itself. With them, 95 of 100 labelled queries find their item among
// the first five. The environment variable TRAPEZE_EMBEDDINGS names an endpoint to measure instead.
func TestTheProgramForEmbeddingsFindsWhatPeopleMean(t *testing.T) {
	p, set := newPlace(t), readLabelled(t)
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	const heading = "### With a model from PyPI"
	named := blockOf(t, "search.md", heading, "yaml") + "  timeout: 5s\n" // CI is busy
	if endpoint := os.Getenv("TRAPEZE_EMBEDDINGS"); endpoint != "" {
		named = "version: 1\nembeddings: {endpoint: '" + endpoint + "', model: model, timeout: 5s}\n"
	}
	p.write(t, "embed.py", blockOf(t, "search.md", heading, "python"))
	p.write(t, "data/policy.yaml", named)
	p.env = append(p.env, "TRAPEZE_EMBED_USE="+interpreter(t, "venv")+" "+filepath.Join(p.home, "embed.py"), "PYTHONDONTWRITEBYTECODE=1")
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	c, _ := p.agent(t, "coder")
	names := map[string]string{}
	remember := func(name string, in client.RememberInput) {
		in.Scope = client.ScopeWorkspace
		x, err := c.Remember(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		names[x.ID] = name
	}
	for _, x := range set.Items {
		remember(x.ID, client.RememberInput{Title: x.Title, Text: x.Text, Tags: x.Tags})
	}
	remember("last", client.RememberInput{Text: wordless})
	find := func(c *client.Client, query string) (found []string) {
		page, err := c.SearchMemory(t.Context(), client.MemoryFilter{Query: query, Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range page.Items {
			found = append(found, names[x.ID])
		}
		return found
	}
	waiter, _ := p.agent(t, "waiter") // the model makes vectors of 120 searches of an agent in a minute
	wait := func() {
		for until := time.Now().Add(patience); !slices.Contains(find(waiter, wordless), "last"); time.Sleep(time.Second) {
			if time.Now().After(until) {
				t.Fatal("the last item has no vector, or the query none in time")
			}
		}
	}
	wait()
	found, all := map[string]float64{}, map[string]float64{}
	for _, q := range set.Queries {
		missed := func(got []string) bool {
			return !slices.ContainsFunc(q.Want, func(id string) bool { return slices.Contains(got, id) })
		}
		got, hit := find(c, q.Text), 1.0
		if missed(got) { // the model was late, perhaps
			wait()
			got = find(c, q.Text)
		}
		if missed(got) {
			hit = 0
			t.Logf("%s %s: %q finds %q, not %q", q.Part, q.Kind, q.Text, got, q.Want)
		}
		for _, of := range []string{q.Part, q.Kind, "all"} {
			found[of], all[of] = found[of]+hit, all[of]+1
		}
	}
	for of, n := range all {
		found[of] /= n
	}
	t.Log(found)
	for of, least := range map[string]float64{"all": 0.95, "tuned": 0.94, "held-out": 0.94} {
		if found[of] < least {
			t.Errorf("recall@5 of the queries that are %s is %.2f, want %.2f", of, found[of], least)
		}
	}
}

// labelled are the items and queries of package search.
type labelled struct {
	Items []struct {
		ID, Title, Text string
		Tags            []string
	}
	Queries []struct {
		Kind, Part, Text string
		Want             []string
	}
}

func readLabelled(t *testing.T) (set labelled) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "record", "view", "sqlview", "search", "testdata", "recall.json"))
	if err == nil {
		err = json.Unmarshal(b, &set)
	}
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// blockOf is the first block of code in a language below a heading of a page of the documentation.
func blockOf(t *testing.T, page, heading, language string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(b), fmt.Sprintf("\n%s\n", heading))
	_, text, ok := strings.Cut(text, "\n```"+language+"\n")
	code, _, closed := strings.Cut(text, "\n```\n")
	if !found || !ok || !closed {
		t.Fatalf("docs/%s has no %s under %q", page, language, heading)
	}
	return code + "\n"
}
