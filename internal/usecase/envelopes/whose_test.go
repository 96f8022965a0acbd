package envelopes

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// TestAFactStaysTheOneOfItsAuthor adds random facts of several authors, hop by hop, and reads the prompt of each receiver: all words stand under the name of
// one who said them, and what an operator or the requester stated stands there, or is named as replaced.
func TestAFactStaysTheOneOfItsAuthor(t *testing.T) {
	authors := []string{"lead", "operator/olga", "admin/ann", "mal", "eve"}
	rapid.Check(t, func(t *rapid.T) {
		var doc envelope.Envelope
		said := map[string]bool{}      // author and words
		whose := map[string][]string{} // by id: the operators and requesters whose facts it stands for
		texts := 0
		for range rapid.IntRange(1, 12).Draw(t, "hops") {
			by := rapid.SampledFrom(authors).Draw(t, "by")
			p := Point{
				ID: rapid.SampledFrom([]string{"a1", "b2", "c3", "d4"}).Draw(t, "id"), Supersedes: rapid.SampledFrom([]string{"", "", "a1", "b2", "c3"}).Draw(t, "supersedes"),
				Reasoning: rapid.SampledFrom([]string{"", "", "so", "thus"}).Draw(t, "why"), Pinned: rapid.Bool().Draw(t, "pinned"), Importance: rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "importance"),
			}
			if p.Text = fmt.Sprintf("words %d", texts); len(doc.KeyFacts) > 0 && rapid.Bool().Draw(t, "again") {
				p.Text = rapid.SampledFrom(doc.KeyFacts).Draw(t, "of").Text
			}
			c := Content{Facts: []Point{p}}
			if c.checkIDs(doc) != nil {
				continue
			}
			texts++
			rules := rules(by, task.Task{Requester: "agent/lead"})
			if !slices.ContainsFunc(doc.KeyFacts, p.says) {
				if p.Supersedes != p.ID {
					whose[p.ID] = append(whose[p.ID], whose[p.Supersedes]...)
					delete(whose, p.Supersedes)
				}
				if rules {
					whose[p.ID] = append(whose[p.ID], by)
				}
			}
			said[by+p.Text], said[by+p.Reasoning] = true, true
			before := doc
			c.addTo(&doc, by, rules)
			if checkShare(&before, &doc, by) != nil {
				t.Fatal("too little is added to be refused")
			}
			doc.Handoff.From = rapid.SampledFrom(authors).Draw(t, "sender")
			reads(t, doc, said, whose)
		}
	})
}

// reads checks what a receiver reads of facts.
func reads(t *rapid.T, doc envelope.Envelope, said map[string]bool, whose map[string][]string) {
	md := envelope.RenderSections(doc)
	for _, i := range doc.KeyFacts {
		if !said[i.By+i.Text] || i.Reasoning != "" && !said[i.By+i.Reasoning] {
			t.Fatalf("%s has not said that: %+v", i.By, i)
		}
		for _, by := range whose[i.ID] {
			named := i.By == by || slices.ContainsFunc(strings.FieldsFunc(i.Replaced(), func(r rune) bool { return strings.ContainsRune(" ,;", r) }), func(w string) bool { return w == by })
			if !named || !strings.Contains(md, i.Replaced()) {
				t.Fatalf("what %s stated is not named: %+v\n%s", by, i, md)
			}
		}
	}
	for id := range whose {
		if !slices.ContainsFunc(doc.KeyFacts, func(i envelope.Item) bool { return i.ID == id }) && len(whose[id]) > 0 {
			t.Fatalf("%s, of %v, is gone", id, whose[id])
		}
	}
}
