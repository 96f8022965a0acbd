package packing_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/fetchcall"
	"github.com/trapezehq/trapeze/internal/content/packing"
	"github.com/trapezehq/trapeze/internal/content/tokenizer"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// words are joined to texts that have whatever could make tokens add up wrongly, or a fence grow.
var words = []string{
	"refund", " the", " charge", "\n", "\n\n", " ", "\t", "/", "//path", "- ", "# ", "`", "```", "`````````", "12345", "é", "漢字", "🙂", "\u202e",
	"'s", ".", "...\n", "\r\n", "<|endoftext|>", " a long word: antidisestablishmentarianism", strings.Repeat("x ", 40),
}

var (
	anyText  = rapid.Map(rapid.SliceOfN(rapid.SampledFrom(words), 0, 12), func(s []string) string { return strings.Join(s, "") })
	someText = rapid.Map(anyText, func(s string) string { return s + "." })
	weight   = rapid.Custom(func(t *rapid.T) envelope.Weight {
		return envelope.Weight{Pinned: rapid.IntRange(0, 5).Draw(t, "pinned") == 0, Importance: rapid.Float64Range(0, 1).Draw(t, "importance")}
	})
)

// taskIDs are ids as tests have them, and as the server makes them.
var taskIDs = []string{"t", "task_06gq3v5t8m1xw2k9r4c7bn0hzs", "task_00000000000000000000000001", "task_zzzzzzzzzzzzzzzzzzzzzzzzzz"}

func texts(t *rapid.T, label string, most int) []string {
	return rapid.SliceOfN(someText, 0, most).Draw(t, label)
}

func drawItems(t *rapid.T, label, letter string) (list []envelope.Item) {
	for i, text := range texts(t, label, 6) {
		item := envelope.Item{ID: fmt.Sprint(letter, i), Text: text, Weight: weight.Draw(t, "weight"), By: rapid.SampledFrom([]string{"", "a", "ben", "operator/olga"}).Draw(t, "by")}
		if rapid.Bool().Draw(t, "reasoned") {
			item.Reasoning = someText.Draw(t, "reasoning")
		}
		list = append(list, item)
	}
	return list
}

func drawDocument(t *rapid.T) envelope.Envelope {
	e := envelope.Envelope{
		Handoff:             envelope.Header{TaskID: rapid.SampledFrom(taskIDs).Draw(t, "task"), From: "a", Detail: anyText.Draw(t, "detail"), Notes: anyText.Draw(t, "notes")},
		Task:                envelope.Task{Intent: someText.Draw(t, "intent"), State: anyText.Draw(t, "state"), Ask: anyText.Draw(t, "ask")},
		ConversationSummary: anyText.Draw(t, "summary"),
		KeyFacts:            drawItems(t, "facts", "f"), Decisions: drawItems(t, "decisions", "d"), OpenQuestions: texts(t, "questions", 3),
		ExpectedOutput: envelope.Expected{Criteria: texts(t, "criteria", 2)},
	}
	if rapid.Bool().Draw(t, "data") {
		e.Task.Data, _ = json.Marshal(someText.Draw(t, "data")) // a string cannot fail
	}
	author := rapid.SampledFrom([]string{"", "ben", "operator/olga"})
	e.TextBy = envelope.Authors{
		Ask: author.Draw(t, "ask by"), State: author.Draw(t, "state by"), Data: author.Draw(t, "data by"), Summary: author.Draw(t, "summary by"), Questions: author.Draw(t, "questions by"), Notes: author.Draw(t, "notes by"),
	}
	e.TextBy = e.AuthorsBeside()
	for i, text := range texts(t, "constraints", 3) {
		e.Constraints = append(e.Constraints, envelope.Constraint{ID: fmt.Sprint("c", i), Kind: event.ConstraintSecurity, Text: text})
	}
	for _, text := range texts(t, "history", 6) {
		e.History = append(e.History, envelope.Step{
			Agent: "a", Action: text, Tool: rapid.SampledFrom([]string{"", "", "grep"}).Draw(t, "tool"), Weight: weight.Draw(t, "weight"),
		})
	}
	for i, text := range texts(t, "memory", 6) {
		if rapid.IntRange(0, 4).Draw(t, "lazy") == 0 {
			text = ""
		}
		e.Memory = append(e.Memory, envelope.MemoryRef{ID: fmt.Sprint("m", i), Version: i, Author: rapid.SampledFrom([]string{"", "ann", "operator/olga"}).Draw(t, "author"), PinnedBy: rapid.SampledFrom([]string{"", "operator/otto"}).Draw(t, "pinned by"), Title: anyText.Draw(t, "title"), Text: text, Weight: weight.Draw(t, "weight")})
	}
	for i, text := range texts(t, "artifacts", 2) {
		e.Artifacts = append(e.Artifacts, envelope.Artifact{Digest: envelope.DigestOf([]byte{byte(i)}), Name: text})
	}
	for _, text := range texts(t, "conversation", 3) {
		e.Conversation = append(e.Conversation, envelope.Turn{Agent: "a", Text: text})
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "gaps") {
		e.Gaps = append(e.Gaps, envelope.Gap{Kind: envelope.PartMemory, ID: fmt.Sprint("g", i), Reason: envelope.GapNotFound})
	}
	return e
}

func drawOptions(t *rapid.T) packing.Options {
	c, err := tokenizer.For(rapid.SampledFrom([]string{"", tokenizer.Cl100kBase, "other"}).Draw(t, "tokenizer"))
	if err != nil {
		t.Fatal(err)
	}
	o := packing.Options{
		Counter: c, Budget: rapid.IntRange(0, 2500).Draw(t, "budget"),
		Strategy: rapid.SampledFrom(append(event.Strategies.Values(), "")).Draw(t, "strategy"),
	}
	for range rapid.IntRange(0, 4).Draw(t, "refs") {
		ref := packing.Ref{Kind: rapid.SampledFrom(envelope.PartKinds.Values()).Draw(t, "kind"), ID: rapid.SampledFrom([]string{"", "1", "2", "m0", "m1", "f0", "f1", "d0", "d1"}).Draw(t, "id")}
		o.Pinned = append(o.Pinned, ref)
	}
	return o
}

// inventory lists the parts that an envelope has, each as often as it has it.
func inventory(e *envelope.Envelope) map[string]int {
	has := map[string]int{}
	for kind, given := range map[envelope.PartKind]bool{
		envelope.PartState: e.Task.State != "", envelope.PartSummary: e.ConversationSummary != "", envelope.PartData: len(e.Task.Data) > 0,
		envelope.PartDetail: e.Handoff.Detail != "", envelope.PartNotes: e.Handoff.Notes != "",
	} {
		if given {
			has[string(kind)+" "]++
		}
	}
	for kind, list := range map[envelope.PartKind][]envelope.Item{envelope.PartFact: e.KeyFacts, envelope.PartDecision: e.Decisions} {
		for _, i := range list {
			has[string(kind)+" "+i.ID+i.Text]++
			if i.Reasoning != "" {
				has["reasoning "+i.ID]++
			}
		}
	}
	for _, s := range e.History {
		has["step "+s.Action]++
	}
	for _, m := range e.Memory {
		if m.Text != "" {
			has["memory "+m.ID+m.Text]++
		}
	}
	for _, a := range e.Artifacts {
		has["artifact "+a.Digest]++
	}
	if n := len(e.Conversation); n > 0 {
		has["conversation "] += n
	}
	return has
}

// omitted is the same of what an envelope says it left out, read back from the document that it was made of.
func omitted(t *rapid.T, e, from *envelope.Envelope) map[string]int {
	has := map[string]int{}
	items := map[string]envelope.Item{}
	for _, i := range slices.Concat(from.KeyFacts, from.Decisions) {
		items[i.ID] = i
	}
	for _, o := range e.Omissions {
		switch key := string(o.Kind) + " " + o.ID; o.Kind {
		case envelope.PartFact, envelope.PartDecision:
			has[key+items[o.ID].Text]++
			alone := func(r envelope.Omission) bool { return r.Kind == envelope.PartReasoning && r.ID == o.ID }
			if items[o.ID].Reasoning != "" && !slices.ContainsFunc(e.Omissions, alone) {
				has["reasoning "+o.ID]++ // went with its item
			}
		case envelope.PartStep:
			var n int
			if _, err := fmt.Sscan(o.ID, &n); err != nil {
				t.Fatal(err)
			}
			has["step "+from.History[n-1].Action]++
		case envelope.PartMemory:
			for _, m := range from.Memory {
				if m.ID == o.ID && m.Text != "" {
					has[key+m.Text]++
				}
			}
		default:
			has[key] += o.Parts()
		}
	}
	return has
}

func checkNothingVanished(t *rapid.T, p, doc *envelope.Envelope) {
	want, got := inventory(doc), inventory(p)
	for key, n := range omitted(t, p, doc) {
		got[key] += n
	}
	if !maps.Equal(got, want) {
		t.Fatalf("kept and left out\n%v, the input has\n%v", got, want)
	}
}

func checkPacked(t *rapid.T, p packing.Packed, doc envelope.Envelope, o packing.Options) {
	sealed, err := envelope.Seal(p.Envelope, salt)
	if err != nil {
		t.Fatal(err)
	}
	opened, _, err := envelope.Open(sealed.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	text := envelope.Render(opened)
	if n := o.Counter.Count(text); text != p.Text || n != p.Tokens || n != opened.Packing.Tokens || o.Budget > 0 && n > o.Budget {
		t.Fatalf("%d tokens, says %d and %d, in a budget of %d:\n%s", n, p.Tokens, opened.Packing.Tokens, o.Budget, text)
	}
	for _, via := range fetchcall.Vias.Values() {
		if text := envelope.RenderVia(opened, via); o.Counter.Count(text) > p.Tokens {
			t.Fatalf("%d tokens by %s, more than %d:\n%s", o.Counter.Count(text), via, p.Tokens, text)
		}
	}
	for _, section := range mustSurvive(doc) {
		if !strings.Contains(text, section) {
			t.Fatalf("lost\n%s\nin\n%s", section, text)
		}
	}
	checkNothingVanished(t, &p.Envelope, &doc)
	again, err := packing.Pack(doc, packing.Options{
		Budget: o.Budget, Counter: o.Counter, Strategy: o.Strategy, Pinned: slices.Clone(o.Pinned),
	})
	if err != nil {
		t.Fatal(err)
	}
	if twin, err := envelope.Seal(again.Envelope, salt); err != nil || twin.Digest != sealed.Digest {
		t.Fatalf("the second time (%v):\n%s\nthe first:\n%s", err, twin.Bytes, sealed.Bytes)
	}
}

// mustSurvive is the sections and lists of a prompt with nothing in it that may be cut.
func mustSurvive(doc envelope.Envelope) []string {
	sections := strings.Split(envelope.Render(envelope.Envelope{
		Handoff:       envelope.Header{TaskID: doc.Handoff.TaskID, From: doc.Handoff.From},
		Task:          envelope.Task{Intent: doc.Task.Intent, Ask: doc.Task.Ask},
		OpenQuestions: doc.OpenQuestions, Constraints: doc.Constraints, ExpectedOutput: doc.ExpectedOutput, TextBy: doc.TextBy,
	}), "\n## ")
	last := len(sections) - 1
	if lists := strings.Split(sections[last], "\n# "); len(lists) > 1 { // they share a fence with what may be cut
		lists[len(lists)-1] = strings.TrimRight(lists[len(lists)-1], "`\n")
		sections = append(sections[:last], lists[1:]...)
	}
	return sections
}

func packsExactly(t *rapid.T) {
	doc, o := drawDocument(t), drawOptions(t)
	before, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	p, err := packing.Pack(doc, o)
	if after, _ := json.Marshal(doc); string(after) != string(before) {
		t.Fatalf("the input changed from\n%s to\n%s", before, after)
	}
	if err == nil {
		checkPacked(t, p, doc, o)
		return
	}
	r, ok := refusal.As(err)
	if !ok || r.Code != refusal.Budget {
		t.Fatal(err)
	}
	needed, _ := r.Details["needed"].(int)
	if needed <= o.Budget {
		t.Fatalf("needs %d of %d: %v", needed, o.Budget, err)
	}
	for _, less := range []int{needed - 1, rapid.IntRange(1, needed-1).Draw(t, "less")} {
		o.Budget = less
		_, err := packing.Pack(doc, o)
		if r, ok := refusal.As(err); !ok || r.Details["needed"] != needed {
			t.Fatalf("%d are enough, or need something else than %d: %v", less, needed, err)
		}
	}
	o.Budget = needed
	if p, err = packing.Pack(doc, o); err != nil {
		t.Fatalf("with what it needs: %v", err)
	}
	checkPacked(t, p, doc, o)
}

func TestNoEnvelopeIsEverOverItsBudgetOrShortOfWhatMustSurvive(t *testing.T) {
	check(t, 2000, packsExactly)
}

// check runs a property so many times, unless the command line says how often.
func check(t *testing.T, n int, property func(*rapid.T)) {
	t.Helper()
	times(t, n)
	rapid.Check(t, property)
}

// times sets how often the properties of a test run, unless the command line says it.
func times(t *testing.T, n int) {
	t.Helper()
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		if err := flag.Set("rapid.checks", fmt.Sprint(n)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := flag.Set("rapid.checks", f.DefValue); err != nil {
				t.Error(err)
			}
		})
	}
}
