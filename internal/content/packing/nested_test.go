package packing_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/packing"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// drawLumpy draws a document whose parts are of very different lengths, some of them pinned or important.
func drawLumpy(t *rapid.T) envelope.Envelope {
	text := func(label string) string {
		n := rapid.SampledFrom([]int{1, 3, 5, 8, 13, 30, 60, 150, 400}).Draw(t, label)
		return strings.Repeat("word ", n) + "."
	}
	weigh := func() envelope.Weight {
		return envelope.Weight{
			Pinned:     rapid.IntRange(0, 9).Draw(t, "pinned") == 0,
			Importance: rapid.SampledFrom([]float64{0, 0, 0.1, 0.3, 0.7, 0.9, 1}).Draw(t, "importance"),
		}
	}
	e := envelope.Envelope{Handoff: envelope.Header{TaskID: "t", From: "a"}, Task: envelope.Task{Intent: "Do it."}}
	if rapid.Bool().Draw(t, "state") {
		e.Task.State = text("state")
	}
	if rapid.Bool().Draw(t, "notes") {
		e.Handoff.Notes = text("notes")
	}
	if rapid.IntRange(0, 3).Draw(t, "data") == 0 {
		e.Task.Data, _ = json.Marshal(text("data")) // a string cannot fail
	}
	for i := range rapid.IntRange(0, 14).Draw(t, "facts") {
		e.KeyFacts = append(e.KeyFacts, envelope.Item{ID: fmt.Sprint("f", i), Text: text("fact"), Weight: weigh(), By: rapid.SampledFrom([]string{"", "ben", "cyd"}).Draw(t, "by")})
	}
	for i := range rapid.IntRange(0, 8).Draw(t, "memory") {
		e.Memory = append(e.Memory, envelope.MemoryRef{ID: fmt.Sprint("m", i), Author: []string{"ann", "operator/olga"}[i%2], Text: text("item"), Weight: weigh()})
	}
	for i := range rapid.IntRange(0, 8).Draw(t, "history") {
		e.History = append(e.History, envelope.Step{Agent: "a", Action: fmt.Sprint(i, " ", text("step")), Weight: weigh()})
	}
	return e
}

// nests packs a document for a number of budgets and compares what is kept.
func nests(t *rapid.T) {
	draw := rapid.SampledFrom([]func(*rapid.T) envelope.Envelope{drawDocument, drawLumpy}).Draw(t, "kind of document")
	doc, o := draw(t), drawOptions(t)
	o.Strategy = rapid.SampledFrom([]event.Strategy{event.StrategyPriority, event.StrategySummaryRefs, event.StrategyLazy}).Draw(t, "nested strategy")
	o.Budget = 0
	all, err := packing.Pack(doc, o)
	if err != nil {
		t.Fatal(err)
	}
	budgets := rapid.SliceOfNDistinct(rapid.IntRange(1, all.Tokens+50), 2, 8, rapid.ID).Draw(t, "budgets")
	slices.Sort(budgets)
	kept, at := map[string]int{}, 0
	for _, o.Budget = range budgets {
		p, err := packing.Pack(doc, o)
		if refusal.CodeOf(err) == refusal.Budget && at == 0 {
			continue
		} else if err != nil {
			t.Fatalf("%d tokens: %v", o.Budget, err)
		}
		has := inventory(&p.Envelope)
		for part, n := range kept {
			if has[part] < n {
				t.Fatalf("%d tokens keep %q, %d do not", at, part, o.Budget)
			}
		}
		kept, at = has, o.Budget
	}
}

func TestALargerBudgetKeepsWhatASmallerOneKept(t *testing.T) {
	check(t, 1000, nests)
}

// firsts is how many pinned and how many vital parts a document has.
func firsts(e *envelope.Envelope) (n int) {
	for _, list := range [][]envelope.Item{e.KeyFacts, e.Decisions} {
		for i := range list {
			if list[i].Pinned || list[i].Importance >= 0.9 {
				n++
			}
		}
	}
	for i := range e.Memory {
		if m := &e.Memory[i]; m.Text != "" && (m.Pinned || m.Importance >= 0.9) {
			n++
		}
	}
	for i := range e.History {
		if s := &e.History[i]; s.Pinned || s.Importance >= 0.9 {
			n++
		}
	}
	return n
}

// vitalAlone is the document with its pinned and vital parts and no others.
func vitalAlone(e envelope.Envelope) envelope.Envelope {
	other := func(w envelope.Weight) bool { return !w.Pinned && w.Importance < 0.9 }
	e.Task.State, e.Handoff.Notes, e.Task.Data = "", "", nil
	e.KeyFacts = slices.DeleteFunc(slices.Clone(e.KeyFacts), func(i envelope.Item) bool { return other(i.Weight) })
	e.Memory = slices.DeleteFunc(slices.Clone(e.Memory), func(m envelope.MemoryRef) bool { return other(m.Weight) })
	e.History = slices.DeleteFunc(slices.Clone(e.History), func(s envelope.Step) bool { return other(s.Weight) })
	return e
}

func TestAtHalfTheBudgetAllThatIsImportantStaysIfItFits(t *testing.T) {
	asked := 0
	check(t, 1000, func(t *rapid.T) {
		doc := drawLumpy(t)
		whole, err := packing.Pack(doc, packing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		half := whole.Tokens / 2
		const list = 40 // tokens of the shortest list of omissions
		alone, err := packing.Pack(vitalAlone(doc), packing.Options{Budget: max(1, half-list)})
		if err != nil || firsts(&alone.Envelope) < firsts(&doc) || firsts(&doc) == 0 {
			return
		}
		asked++
		p, err := packing.Pack(doc, packing.Options{Budget: half})
		if err != nil {
			t.Fatal(err)
		}
		beyond := slices.ContainsFunc(p.Envelope.Omissions, func(o envelope.Omission) bool { return o.Reason == envelope.OverShare })
		if firsts(&p.Envelope) < firsts(&doc) && !beyond {
			t.Fatalf("%d tokens: %d of %d important parts, which fit; left out %+v", half, firsts(&p.Envelope), firsts(&doc), p.Envelope.Omissions)
		}
	})
	if asked == 0 {
		t.Error("in no document did they fit")
	}
}
