package packing_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

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
