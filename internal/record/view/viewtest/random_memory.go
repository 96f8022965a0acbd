package viewtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
)

var (
	fruits  = []string{"apple", "banana", "cherry", "damson"}
	readers = []memory.Reader{reader("ann", id(1)), reader("bob", id(1), id(2)), reader("cy"), auditor, boss}
)

// randomMemory compares what readers find with what the folds and [memory.MayRead] say.
func randomMemory(t *testing.T, open Open) {
	s := newStage(t, open)
	story := 0
	rapid.Check(t, func(rt *rapid.T) {
		story++
		s.ws = fmt.Sprintf("story-%d", story)
		const items = 5
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			m := fmt.Sprintf("m%d", rapid.IntRange(1, items).Draw(rt, "item"))
			s.now = s.now.Add(1e9)
			_ = s.tryKnow(m, anyCommand(rt, m)) // most refusals are part of the game
		}
		var states []memory.State
		for n := range items {
			events, _, _, err := history(s, ledger.StreamOf(s.ws, "memory", fmt.Sprintf("m%d", n+1)), s.items)
			if err != nil {
				rt.Fatal(err)
			}
			if state := foldItem(events); state.Exists() {
				states = append(states, state)
			}
		}
		for _, f := range someFilters(rt) {
			got, _ := s.search(f)
			slices.Sort(got)
			want := []string{}
			for _, state := range states {
				if meets(state, f) {
					want = append(want, state.ID)
				}
			}
			if !slices.Equal(got, want) {
				rt.Errorf("%+v: got %q, want %q", f, got, want)
			}
		}
	})
	s.verify()
}

func anyCommand(rt *rapid.T, m string) memory.Command {
	by := rapid.SampledFrom(readers).Draw(rt, "by")
	text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(fruits), 1, 3).Draw(rt, "text"), " ")
	tags := rapid.SliceOfN(rapid.SampledFrom(fruits), 0, 2).Draw(rt, "tags")
	c := content(rapid.SampledFrom(fruits).Draw(rt, "title"), text)
	return rapid.SampledFrom([]memory.Command{
		memory.Remember{By: by, ID: m, Scope: memory.Private, Tags: tags, Content: c},
		memory.Remember{By: by, ID: m, Scope: memory.Workspace, Tags: tags, Pinned: true, Content: c},
		memory.Remember{By: by, ID: m, Scope: memory.Task, Task: id(1), Tags: tags, Content: c},
		memory.Remember{By: by, ID: m, Scope: memory.Task, Task: id(2), Content: c},
		memory.Revise{By: by, ID: m, Content: c},
		memory.Revise{By: by, ID: m, Content: c},
		memory.Tag{By: by, ID: m, Tags: tags},
		memory.Pin{By: by, ID: m},
		memory.Unpin{By: by, ID: m},
		memory.Weigh{By: by, ID: m, Importance: 0.7},
		memory.Forget{By: by, ID: m},
	}).Draw(rt, "command")
}

func someFilters(rt *rapid.T) (filters []view.MemoryFilter) {
	maybe := func(of []string, what string) string {
		return rapid.SampledFrom(append([]string{"", ""}, of...)).Draw(rt, what)
	}
	for _, by := range readers {
		filters = append(filters, view.MemoryFilter{By: by}, view.MemoryFilter{
			By: by, Text: maybe(fruits, "text"), Tag: maybe(fruits, "tag"), Author: maybe(names, "author"), Task: maybe([]string{id(1), id(2)}, "task"),
			Scope:   rapid.SampledFrom([]memory.Scope{"", "", memory.Private, memory.Task, memory.Workspace}).Draw(rt, "scope"),
			Pinned:  rapid.Bool().Draw(rt, "pinned"),
			Pinning: rapid.SampledFrom([]memory.Pinning{memory.NotPinned, memory.NotPinned, memory.AgentPin, memory.OperatorPin, memory.ProposedPin}).Draw(rt, "pinning"),
		})
	}
	return filters
}

// meets is what a filter means, by the shortest way.
func meets(s memory.State, f view.MemoryFilter) bool {
	words := append(strings.Fields(s.Latest().Title+" "+s.Latest().Text), s.Tags...)
	return !s.Forgotten() && memory.MayRead(s, f.By) &&
		(f.Text == "" || slices.Contains(words, f.Text)) && (f.Tag == "" || s.Has(f.Tag)) &&
		(f.Author == "" || s.Owner == "agent/"+f.Author) && (f.Task == "" || s.Task == f.Task) &&
		(f.Scope == "" || s.Scope == f.Scope) && (!f.Pinned || s.Pinning().Counts()) && (f.Pinning == memory.NotPinned || s.Pinning() == f.Pinning)
}
