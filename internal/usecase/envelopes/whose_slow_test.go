//go:build slow

package envelopes

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/packing"
	"github.com/trapezehq/trapeze/internal/content/parts"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
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
			c := Content{Facts: []Point{p}, Decisions: []Point{p}} // the same of both, but for why
			if p.Reasoning != "" {
				c.Decisions[0].Reasoning = "decided " + p.Reasoning
			}
			beside(t, &doc, by)
			if c.checkIDs(doc, nil, by) != nil {
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
			c.addTo(&doc, nil, by, rules)
			if checkShare(&before, &doc, by) != nil {
				t.Fatal("too little is added to be refused")
			}
			doc.Handoff.From = rapid.SampledFrom(authors).Draw(t, "sender")
			reads(t, doc, said, whose)
			fetches(t, doc, said)
		}
	})
}

// beside adds a step, a memory item or a file, each with words of its own.
func beside(t *rapid.T, doc *envelope.Envelope, by string) {
	words := fmt.Sprintf("more %d", len(doc.History)+len(doc.Memory)+len(doc.Artifacts))
	weight := envelope.Weight{Pinned: rapid.Bool().Draw(t, "is pinned"), Importance: rapid.SampledFrom([]float64{0, 1}).Draw(t, "weighs")}
	switch rapid.IntRange(0, 3).Draw(t, "beside") {
	case 0:
		doc.History = append(slices.Clip(doc.History), envelope.Step{Agent: by, Action: words, Weight: weight})
	case 1:
		doc.Memory = append(slices.Clip(doc.Memory), envelope.MemoryRef{ID: fmt.Sprintf("mem_%d", len(doc.Memory)), Text: words, Author: by, Weight: weight})
	case 2:
		doc.Artifacts = append(slices.Clip(doc.Artifacts), envelope.Artifact{Digest: envelope.DigestOf([]byte(words)), Weight: weight})
	}
}

// wordsOf are those of what was left out, as its source has them; a file has none. A fact and a decision of one id are asked for their reasoning by one name.
func wordsOf(doc *envelope.Envelope, o envelope.Omission) (words []string) {
	if o.Kind == envelope.PartStep {
		n, _ := strconv.Atoi(o.ID)
		return []string{doc.History[n-1].Line()}
	}
	if o.Kind == envelope.PartMemory {
		return []string{doc.Memory[slices.IndexFunc(doc.Memory, func(m envelope.MemoryRef) bool { return m.ID == o.ID })].Text}
	}
	if o.Kind == envelope.PartArtifact {
		return []string{""}
	}
	for at, list := range [][]envelope.Item{doc.KeyFacts, doc.Decisions} {
		for _, i := range list {
			switch {
			case i.ID != o.ID:
			case o.Kind == envelope.PartReasoning && i.Reasoning != "":
				words = append(words, i.Reasoning)
			case o.Kind == []envelope.PartKind{envelope.PartFact, envelope.PartDecision}[at]:
				words = append(words, i.Text)
			}
		}
	}
	return words
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

// fetches runs the calls that the prompt of a small budget names: each returns what it is said to have, in the words of the authors that are named.
func fetches(t *rapid.T, doc envelope.Envelope, said map[string]bool) {
	doc.Handoff.TaskID, doc.Task.Intent = "task_1", "x"
	_, err := packing.Pack(doc, packing.Options{Budget: 1})
	no, _ := refusal.As(err)
	if no == nil {
		t.Fatal(err)
	}
	budget := no.Details["needed"].(int) + rapid.IntRange(0, 60).Draw(t, "tokens")
	packed, err := packing.Pack(doc, packing.Options{Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(packed.Text, "\n") {
		_, list, named := strings.Cut(line, ": ")
		kind, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(line, "pinned "), "important "), " ")
		if kind = strings.TrimSuffix(kind, ":"); !named || kind != "fact" && kind != "decision" {
			continue
		}
		for _, id := range regexp.MustCompile(`\b[abcd][1-4]( \(by ([^,]*), replaces what (.*?) said\))?`).FindAllStringSubmatch(list, -1) {
			found, missing, err := parts.Find(&doc, []string{kind + ":" + id[0][:2]}, packed.Envelope.Omissions)
			if err != nil || len(missing) > 0 || len(found) == 0 {
				t.Fatalf("%s:%s: %v, %q in\n%s", kind, id[0][:2], err, missing, packed.Text)
			}
			if id[1] == "" {
				continue
			}
			if !said[id[2]+found[0].Text] || len(found) != 2 || !said[id[3]+found[1].Text] || found[1].Replaced != "said by "+id[3] {
				t.Fatalf("%q: fetched %+v", id[0], found)
			}
		}
	}
	for _, o := range packed.Envelope.Omissions {
		if o.ID == "" {
			continue
		}
		name := string(o.Kind) + ":" + o.ID
		found, missing, err := parts.Find(&doc, []string{name}, packed.Envelope.Omissions)
		for _, words := range wordsOf(&doc, o) {
			if err != nil || len(missing) > 0 || !slices.ContainsFunc(found, func(p parts.Part) bool { return p.Name() == name && p.Text == words }) {
				t.Fatalf("%s, which says %q: fetched %+v, %q, %v", name, words, found, missing, err)
			}
		}
		for _, what := range []string{string(o.Kind), "all"} {
			all, _, err := parts.Find(&doc, []string{what}, packed.Envelope.Omissions)
			if err != nil || !slices.ContainsFunc(all, func(p parts.Part) bool { return p.Name() == name }) {
				t.Fatalf("%s is not in %s: %+v, %v", name, what, all, err)
			}
		}
	}
}

// Of more authors than an entry names, those in the middle are counted: the newest, the first and operators are named.
func TestWhoSaidAFactBeforeIsCountedBeyondABound(t *testing.T) {
	var doc envelope.Envelope
	for i := range 14 {
		by := fmt.Sprintf("a%d", i)
		if i == 5 {
			by = "operator/olga"
		}
		Content{Facts: []Point{{ID: "f", Text: by}}}.addTo(&doc, nil, by, false)
	}
	const want = "f replaces what a12 said; before that a11, a6, operator/olga, a4, a3, a2, a1, a0 and 4 more"
	if got := doc.KeyFacts[0].Replaced(); got != want {
		t.Errorf("%s", got)
	}
}

// Words that nobody had pinned or found vital are not brought along: a prompt without room promises them to nobody when the later ones are pinned.
func TestALeftOutFactNamesOnlyWhoseWordsAreFetched(t *testing.T) {
	doc := envelope.Envelope{Handoff: envelope.Header{TaskID: "task_1", From: "lead"}, Task: envelope.Task{Intent: "x"}}
	for i, by := range []string{"mal", "lead", "lead"} {
		Content{Facts: []Point{{ID: "a1", Text: fmt.Sprint(strings.Repeat("words ", 99), i), Pinned: i == 2}}}.addTo(&doc, nil, by, by == "lead")
	}
	_, err := packing.Pack(doc, packing.Options{Budget: 1})
	no, _ := refusal.As(err)
	packed, err := packing.Pack(doc, packing.Options{Budget: no.Details["needed"].(int)})
	if err != nil || !strings.Contains(packed.Text, "fact") || strings.Contains(packed.Text, "replaces what") {
		t.Errorf("%v: %s", err, packed.Text)
	}
}
