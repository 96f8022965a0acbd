package packing_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/packing"
)

func TestNobodyDisplacesWhatOthersFindImportantByPinningMore(t *testing.T) {
	for _, w := range []envelope.Weight{{Pinned: true}, {Importance: 1}} {
		doc := envelope.Envelope{Handoff: envelope.Header{TaskID: "t", From: "sender"}, Task: envelope.Task{Intent: "Do it."}}
		add := func(n int, by string, w envelope.Weight, ruled bool) (ids []string) {
			for i := range n {
				ids = append(ids, fmt.Sprint(by, i))
				doc.KeyFacts = append(doc.KeyFacts, envelope.Item{ID: ids[i], By: by, Text: strings.Repeat("word ", 20), Weight: w, Ruled: ruled})
			}
			return ids
		}
		want := slices.Concat(add(4, "bob", w, false), add(4, "lead", envelope.Weight{Pinned: true}, true), add(4, "sender", w, false))
		add(60, "mal", w, false)
		packed, err := packing.Pack(doc, packing.Options{Budget: 700})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range want {
			if !slices.ContainsFunc(packed.Envelope.KeyFacts, func(i envelope.Item) bool { return i.ID == id }) {
				t.Errorf("%+v: %s is displaced in\n%s", w, id, packed.Text)
			}
		}
	}
}

// lines are the words of an author in facts that it finds vital or pins.
func lines(by string, n int, item envelope.Item) (list []envelope.Item) {
	for i := range n {
		item.ID, item.By = fmt.Sprint(by, i), by
		list = append(list, item)
	}
	return list
}

func TestWhatAgentsFindImportantDisplacesNothingOfTheRequesterAndOperators(t *testing.T) {
	check(t, 300, func(t *rapid.T) {
		words := func(label string) string { return strings.Repeat("word ", rapid.IntRange(1, 60).Draw(t, label)) + "." }
		doc := envelope.Envelope{Handoff: envelope.Header{TaskID: "t", From: "mal"}, Task: envelope.Task{Intent: "Do it."}}
		var rules []string
		for _, by := range []string{"lead", "operator/olga"} {
			list := lines(by, rapid.IntRange(1, 4).Draw(t, "rules"), envelope.Item{Text: words("rule"), Ruled: true, Weight: envelope.Weight{Importance: 1}})
			for i := range list {
				list[i].Pinned = rapid.Bool().Draw(t, "pinned rule")
				rules = append(rules, list[i].ID)
			}
			doc.KeyFacts = append(doc.KeyFacts, list...)
		}
		pack := func(o packing.Options) packing.Packed {
			p, err := packing.Pack(doc, o)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		alone := pack(packing.Options{}).Tokens
		for i := range rapid.IntRange(1, 5).Draw(t, "agents") {
			doc.KeyFacts = append(doc.KeyFacts, lines([]string{"mal", "eve", "bob", "cyd", "dee"}[i], rapid.IntRange(1, 50).Draw(t, "facts"), envelope.Item{
				Text: words("fact"), Weight: envelope.Weight{Pinned: rapid.IntRange(0, 3).Draw(t, "pinned") == 0, Importance: rapid.SampledFrom([]float64{0, 0.9, 1}).Draw(t, "importance")},
			})...)
		}
		whole := pack(packing.Options{}).Tokens
		const list = 200 // tokens of the list of omissions, which names what is pinned or important
		budget := max(2*(alone+list), whole/2)
		p := pack(packing.Options{Budget: budget})
		for _, id := range rules {
			if !slices.ContainsFunc(p.Envelope.KeyFacts, func(i envelope.Item) bool { return i.ID == id }) {
				t.Fatalf("%s is displaced: %d of %d tokens, %d without agents\n%s", id, budget, whole, alone, p.Text)
			}
		}
	})
}

func TestAnAgentMakesNoMoreImportantThanItsShare(t *testing.T) {
	doc := envelope.Envelope{Handoff: envelope.Header{TaskID: "t", From: "mal"}, Task: envelope.Task{Intent: "Do it."}}
	doc.KeyFacts = lines("bob", 10, envelope.Item{Text: "A fact that bob has not weighed."})
	doc.Decisions = lines("mal", 200, envelope.Item{Text: strings.Repeat("word ", 20), Weight: envelope.Weight{Importance: 1}})
	p := pack(t, doc, packing.Options{Budget: 2000})
	if len(p.Envelope.KeyFacts) != 10 {
		t.Errorf("%d of 10 facts of bob are left", len(p.Envelope.KeyFacts))
	}
	if says := "important beyond its author's share"; !strings.Contains(p.Text, says) {
		t.Errorf("the prompt does not say that mal's are %s:\n%s", says, p.Text)
	}
	vital := 0
	for _, o := range p.Envelope.Omissions {
		if o.Important {
			vital++
		}
	}
	if vital > 32 {
		t.Errorf("%d of mal's are named as important", vital)
	}
}

// A long part of an agent that is left out takes no room from the others, however important the agent finds it.
func TestALongImportantPartOfAnAgentThatIsLeftOutLeavesItsPlaceToOthers(t *testing.T) {
	doc := envelope.Envelope{Handoff: envelope.Header{TaskID: "t", From: "mal"}, Task: envelope.Task{Intent: "Do it."}}
	doc.KeyFacts = lines("bob", 80, envelope.Item{Text: "The valve is open, and the pump beside it stands still.", Weight: envelope.Weight{Importance: 0.8}})
	with := doc
	with.Decisions = lines("mal", 1, envelope.Item{Text: strings.Repeat("mal writes at length here ", 140), Weight: envelope.Weight{Importance: 1}})
	for budget := 400; budget <= 1300; budget += 150 {
		o := packing.Options{Budget: budget}
		alone, beside := pack(t, doc, o), pack(t, with, o)
		if n := len(alone.Envelope.KeyFacts); len(beside.Envelope.Decisions) == 0 && len(beside.Envelope.KeyFacts) < n*9/10 {
			t.Errorf("of %d tokens: %d facts of bob beside what is left out of mal, %d without it", budget, len(beside.Envelope.KeyFacts), n)
		}
	}
}
