package packing

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/tokenizer"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// drawParts draws an envelope of parts whose texts begin and end with anything but need no longer fence.
func drawParts(t *rapid.T) envelope.Envelope {
	word := rapid.SampledFrom([]string{"a", " b", "\n", "\n\n", "/", "//", "- ", "#", "`", ".", "...\n", "12", "é", "漢", "\u202e", "'s", "\t", " "})
	text := rapid.Map(rapid.SliceOfN(word, 0, 8), func(s []string) string { return strings.Join(s, "") + "." + "\n/"[len(s)%3:] })
	draw := func() string { return text.Draw(t, "text") }
	by := func() string { return rapid.SampledFrom([]string{"", "ann", "ben", "operator/olga"}).Draw(t, "by") }
	e := envelope.Envelope{Handoff: envelope.Header{TaskID: "t1", From: "ann", Detail: draw(), Notes: draw()}, ConversationSummary: draw()}
	e.Task.State = draw()
	for range rapid.IntRange(0, 3).Draw(t, "n") {
		e.KeyFacts = append(e.KeyFacts, envelope.Item{ID: "f", Text: draw(), Reasoning: draw(), By: by()})
		e.Decisions = append(e.Decisions, envelope.Item{ID: "d", Text: draw(), By: by()})
		e.History = append(e.History, envelope.Step{Agent: "a", Action: draw(), Detail: draw()})
		e.Memory = append(e.Memory, envelope.MemoryRef{ID: "m", Title: draw(), Text: draw()})
		e.Artifacts = append(e.Artifacts, envelope.Artifact{Digest: "x", Name: draw()})
		e.Conversation = append(e.Conversation, envelope.Turn{Agent: "a", Text: draw()})
	}
	return e
}

func TestThePartsTokensAddUpToThoseOfThePrompt(t *testing.T) {
	for _, name := range []string{tokenizer.O200kBase, tokenizer.Cl100kBase, "other"} {
		c, err := tokenizer.For(name)
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			doc := drawParts(t)
			p := packer{doc: &doc, options: Options{Strategy: event.StrategyFull}, costs: newCosts(c, doc.Handoff)}
			p.collect()
			p.measure()
			doc.OpenQuestions = question
			sum, framed := c.Count(envelope.Render(envelope.Envelope{OpenQuestions: question, Handoff: envelope.Header{TaskID: "t1", From: "ann"}})), map[frame]bool{}
			for _, x := range p.parts {
				sum += x.tokens
				for _, f := range x.frames() {
					if !framed[f] {
						sum += p.costs.frame(f)
						framed[f] = true
					}
				}
			}
			if got := c.Count(envelope.Render(doc)); got != sum {
				t.Fatalf("%s: %d tokens, the parts have %d:\n%s", name, got, sum, envelope.Render(doc))
			}
		})
	}
}

func TestTheOmissionsTokensAddUpToThoseOfTheirList(t *testing.T) {
	doc := envelope.Envelope{Memory: []envelope.MemoryRef{{ID: "m1", Title: "/a\ntitle"}, {ID: "m2", Version: 3}}}
	p := packer{doc: &doc, costs: newCosts(tokenizer.Counter{}, envelope.Header{})}
	var all envelope.Envelope
	sum := 0
	for _, x := range []part{
		{kind: envelope.PartMemory, id: "m1", tokens: 12, why: envelope.OnDemand},
		{kind: envelope.PartMemory, id: "m2", index: 1, tokens: 1234567, why: envelope.OverBudget, pinned: true},
		{kind: envelope.PartConversation, count: 40, tokens: 7, why: envelope.RawLog},
	} {
		x.refer(&all, &doc)
		all.Omissions = append(all.Omissions, x.omission())
		sum += p.costs.line(&x, &doc)
	}
	if got := p.costs.leftOut(&all); got != sum+p.costs.frames[frame{}] {
		t.Errorf("%d tokens, the lines have %d and the frame %d", got, sum, p.costs.frames[frame{}])
	}
	for i := range 3 { // the further ids of a group
		x := part{kind: envelope.PartFact, id: fmt.Sprint("f", 3*i), tokens: 10, why: envelope.OverBudget}
		before := p.costs.leftOut(&all)
		all.Omissions = append(all.Omissions, x.omission())
		if adds := p.costs.leftOut(&all) - before; i > 0 && adds != p.costs.line(&x, &doc) {
			t.Errorf("fact %d adds %d tokens, its line has %d", i, adds, p.costs.line(&x, &doc))
		}
	}
}
