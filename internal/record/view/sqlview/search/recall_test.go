package search

import (
	_ "embed"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// labelled is a set of items such as agents of coding, support, research, finance, medicine and law store, and queries with the
// items that they should find. The queries were written before the search that they judge, and half of them (held-out) are
// kept out of its tuning.
//
//go:embed testdata/recall.json
var labelled []byte

type labelledSet struct {
	Items []struct {
		ID, Title, Text string
		Tags            []string
	}
	Queries []labelledQuery
}

type labelledQuery struct {
	Kind, Part, Text string
	Want             []string
}

func readLabelled(t testing.TB) (set labelledSet) {
	t.Helper()
	if err := json.Unmarshal(labelled, &set); err != nil {
		t.Fatal(err)
	}
	return set
}

// recallOf is the mean recall@5 by part and by kind of query.
func recallOf(t testing.TB, set labelledSet, search func(text string) []string) map[string]float64 {
	t.Helper()
	found, all := map[string]float64{}, map[string]float64{}
	for _, q := range set.Queries {
		got, hits := search(q.Text), 0.0
		for _, id := range q.Want {
			if slices.Contains(got[:min(5, len(got))], id) {
				hits++
			}
		}
		if hits == 0 {
			t.Logf("%s %s: %q finds %q, not %q", q.Part, q.Kind, q.Text, got, q.Want)
		}
		for _, name := range []string{q.Part, q.Kind, "all"} {
			found[name] += hits / float64(len(q.Want))
			all[name]++
		}
	}
	for name, n := range all {
		found[name] /= n
	}
	return found
}

func TestTheLabelledQueriesFindTheirItemsAmongTheFirstFive(t *testing.T) {
	h, set := open(t), readLabelled(t)
	for _, x := range set.Items {
		c := text(x.Text)
		c.Title = x.Title
		h.add(newNote(x.ID), memory.Remember{By: ann, ID: x.ID, Scope: memory.Workspace, Tags: x.Tags, Content: c})
	}
	recall := recallOf(t, set, func(text string) (ids []string) {
		found, err := h.Memory(t.Context(), "default", view.MemoryFilter{By: ann, Text: text, Now: time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC), Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range found {
			ids = append(ids, x.ID)
		}
		return ids
	})
	t.Log(recall)
	for name, least := range map[string]float64{"tuned": 0.85, "held-out": 0.85} {
		if recall[name] < least {
			t.Errorf("%s: recall@5 is %.2f, want at least %.2f", name, recall[name], least)
		}
	}
}
