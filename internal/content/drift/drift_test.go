package drift_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/content/drift"
	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

var update = flag.Bool("update", false, "rewrite the story's files; commit only what you understand")

// doc builds an envelope of facts, each written as "id text", "id<old text" or "id<old<older text".
func doc(facts ...string) envelope.Envelope {
	e := envelope.Envelope{
		Handoff: envelope.Header{TaskID: "t", From: "ada", To: []string{"bob"}},
		Task:    envelope.Task{Intent: "Say hello."},
	}
	for _, f := range facts {
		id, text, _ := strings.Cut(f, " ")
		id, old, _ := strings.Cut(id, "<")
		item := envelope.Item{ID: id, Text: text}
		if old != "" {
			older := strings.Split(old, "<")
			item.Supersedes, item.Lineage = older[0], older[1:]
		}
		e.KeyFacts = append(e.KeyFacts, item)
	}
	return e
}

func TestAHopIsComparedByID(t *testing.T) {
	for name, s := range map[string]struct {
		prev, next envelope.Envelope
		want       string
	}{
		"all the same":                         {doc("f1 a", "f2 b"), doc("f2 b", "f1 a"), "=2"},
		"other words under the same id":        {doc("f1 a"), doc("f1 b"), "~1"},
		"one that supersedes":                  {doc("f1 a"), doc("f2<f1 b"), "~1"},
		"one that supersedes, beside the old":  {doc("f1 a"), doc("f1 a", "f2<f1 b"), "=1 +1"},
		"two that supersede the same":          {doc("f1 a"), doc("f2<f1 b", "f3<f1 c"), "~1 +1"},
		"one that supersedes what never was":   {doc("f1 a"), doc("f1 a", "f3<f0 c"), "=1 +1"},
		"one that supersedes what superseded":  {doc("f1 a"), doc("f3<f2<f1 c"), "~1"},
		"lineage yields to what is superseded": {doc("f1 a", "f2 b"), doc("f3<f2<f1 c"), "~1 -1"},
		"lineage of one that is still there":   {doc("f1 a"), doc("f1 a", "f3<f2<f1 c"), "=1 +1"},
		"a rewording under a new id":           {doc("f1 the sky is blue"), doc("f2 the sky is quite blue"), "-1 +1"},
		"dropped":                              {doc("f1 a", "f2 b"), doc("f2 b"), "=1 -1"},
		"nothing at all":                       {doc(), doc(), "–"},
		"an id taken over by another superior": {doc("f1 a", "f2 b"), doc("f2<f1 b"), "=1 -1"},
	} {
		if got := drift.Compare(s.prev, s.next).Facts.String(); got != s.want {
			t.Errorf("%s: got %s, want %s", name, got, s.want)
		}
	}
}

func TestAnOmittedEntryIsNotDropped(t *testing.T) {
	prev := doc("f1 a", "f2 b")
	prev.Decisions = []envelope.Item{{ID: "f1", Text: "a decision with the id of a fact"}}
	prev.Memory = []envelope.MemoryRef{{ID: "m1", Version: 1}, {ID: "m2"}}
	next := doc()
	next.Omissions = []envelope.Omission{{Kind: envelope.PartFact, ID: "f1", Reason: envelope.OverBudget}}
	next.Gaps = []envelope.Gap{{Kind: envelope.PartMemory, ID: "m1", Reason: envelope.GapForgotten}}
	h := drift.Compare(prev, next)
	if h.Facts.String() != "o1 -1" || h.Facts.Omitted[0].Why != "budget" || h.Facts.Dropped[0].ID != "f2" {
		t.Errorf("facts %+v", h.Facts)
	}
	if h.Decisions.String() != "-1" || h.References.String() != "o1 -1" || h.References.Omitted[0].Why != "forgotten" {
		t.Errorf("decisions %s, references %+v", h.Decisions, h.References)
	}
}

func TestAReferenceWhoseIDIsNotInThePromptIsNotKept(t *testing.T) {
	prev := doc()
	prev.Memory = []envelope.MemoryRef{{ID: "m1", Version: 1}}
	for listing, want := range map[envelope.Listing]string{envelope.ListEach: "=1", envelope.ListGroups: "o1", envelope.ListTotal: "o1"} {
		next := prev
		next.Packing.Listing = listing
		next.Omissions = []envelope.Omission{{Kind: envelope.PartMemory, ID: "m1", Reason: envelope.OverBudget}}
		h := drift.Compare(prev, next)
		if got := h.References.String(); got != want || want == "o1" && h.References.Omitted[0].Why != "budget" {
			t.Errorf("%s: %s, want %s: %+v", listing, got, want, h.References)
		}
	}
}

func TestWhatWasSaidAndNotGivenIsCounted(t *testing.T) {
	first := doc("f1 a", "f2 b", "f3 c")
	said := doc("g1<f1 aa", "f2 bb", "f3 c", "f4 new")
	given := doc("f3 c")
	for _, id := range []string{"g1", "f2", "f4"} {
		given.Omissions = append(given.Omissions, envelope.Omission{Kind: envelope.PartFact, ID: id, Reason: envelope.OverBudget})
	}
	r := drift.OfPacked([]envelope.Envelope{first, said}, []envelope.Envelope{first, given})
	if got := r.Hops[0].Facts; got.String() != "=1 o3" || got.Omitted[0].ID != "g1" || got.Omitted[0].Was != "f1" || got.Omitted[2].ID != "f4" {
		t.Errorf("%s: %+v", got, got)
	}
	if want := (drift.Kept{Introduced: 4, Surviving: 1, Verbatim: 1, Omitted: 3, Rate: 0.25}); r.Retention.Facts != want {
		t.Errorf("retention %+v, want %+v", r.Retention.Facts, want)
	}
	late := given
	late.Constraints = []envelope.Constraint{{ID: "k", Text: "set after it was said"}}
	if r := drift.OfPacked([]envelope.Envelope{first, said}, []envelope.Envelope{first, late}); len(r.Hops[0].Constraints.Added) != 1 || r.Retention.Constraints.Introduced != 1 {
		t.Errorf("a constraint that came later: %+v", r)
	}
}

func TestAConstraintThatIsLoosenedIsNamed(t *testing.T) {
	limit := func(v float64) *float64 { return &v }
	with := func(c envelope.Constraint) envelope.Envelope {
		e := doc()
		c.ID, c.Kind = "c1", event.ConstraintBudget
		e.Constraints = []envelope.Constraint{c}
		return e
	}
	base := envelope.Constraint{Text: "Cents.", Hard: true, Max: limit(10), Allow: []string{"a", "b"}}
	for name, s := range map[string]struct {
		change func(*envelope.Constraint)
		want   drift.How
	}{
		"more allowed":    {func(c *envelope.Constraint) { c.Max = limit(11) }, drift.Loosened},
		"no list":         {func(c *envelope.Constraint) { c.Allow = nil }, drift.Loosened},
		"other words":     {func(c *envelope.Constraint) { c.Text = "Euros." }, drift.Loosened},
		"soft":            {func(c *envelope.Constraint) { c.Hard = false }, drift.Loosened},
		"less allowed":    {func(c *envelope.Constraint) { c.Max = limit(9) }, drift.Tightened},
		"an empty list":   {func(c *envelope.Constraint) { c.Allow = []string{} }, drift.Tightened},
		"a shorter list":  {func(c *envelope.Constraint) { c.Allow = []string{"a"} }, drift.Tightened},
		"another origin":  {func(c *envelope.Constraint) { c.Origin = "agent/x" }, ""},
		"the same, again": {func(c *envelope.Constraint) { c.Max = limit(10) }, ""},
	} {
		c := base
		s.change(&c)
		h := drift.Compare(with(base), with(c))
		var got drift.How
		if len(h.Constraints.Changed) == 1 {
			got = h.Constraints.Changed[0].How
		}
		if got != s.want {
			t.Errorf("%s: got %q, want %q", name, got, s.want)
		}
	}
}

func TestAMemoryOfAnotherVersionIsAChangedReference(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	prev, next := doc(), doc()
	prev.Memory = []envelope.MemoryRef{{ID: "m1", Version: 1, Title: "Policy"}, {ID: "m2", Version: 1}}
	next.Memory = []envelope.MemoryRef{{ID: "m1", Version: 2, Title: "Policy"}, {ID: "m2", Version: 1, Text: "fetched"}}
	prev.Artifacts = []envelope.Artifact{{Digest: digest}, {Digest: digest, Name: "twice"}}
	next.Artifacts = []envelope.Artifact{{Digest: digest}}
	h := drift.Compare(prev, next)
	if h.References.String() != "=2 ~1" || h.References.Changed[0].How != drift.Revised {
		t.Errorf("%+v", h.References)
	}
}

// TestRetentionFollowsLinesThroughTheChain tells of five facts: f1 stays, f2 is superseded twice, f3 is dropped, f4 goes
// and comes back, f5 is omitted.
func TestRetentionFollowsLinesThroughTheChain(t *testing.T) {
	chain := []envelope.Envelope{
		doc("f1 a", "f2 b", "f3 c", "f4 d", "f5 e"),
		doc("f1 a", "g2<f2 bb", "f5 e"),
		doc("f1 a", "h2<g2 bbb", "f4 d"),
	}
	chain[2].Omissions = []envelope.Omission{{Kind: envelope.PartFact, ID: "f5", Reason: envelope.OverBudget}}
	r := drift.Of(chain)
	want := drift.Kept{Introduced: 5, Surviving: 3, Verbatim: 2, Omitted: 1, Rate: 0.6}
	if r.Retention.Facts != want {
		t.Errorf("facts %+v, want %+v", r.Retention.Facts, want)
	}
	overall := drift.Kept{Introduced: 6, Surviving: 4, Verbatim: 3, Omitted: 1, Rate: 4.0 / 6}
	if r.Retention.Overall != overall || r.Retention.Decisions.Rate != 1 {
		t.Errorf("overall %+v, want %+v", r.Retention.Overall, overall)
	}
}

func TestAFactThatAnotherSenderSupersedesIsReplacedAndDoesNotSurvive(t *testing.T) {
	chain := []envelope.Envelope{doc("f1 a", "f2 b"), doc("g1<f1 aa", "f2 b"), doc("h1<g1 aaa", "h2<f2 bb")}
	chain[2].Handoff.From = "bob"
	r := drift.Of(chain)
	if c := r.Hops[0].Facts.Changed; len(c) != 1 || c[0].By != "ada" {
		t.Errorf("%+v", c)
	}
	if c := r.Hops[1].Facts.Changed; len(c) != 2 || c[0].How != drift.Superseded || c[0].By != "bob" || c[0].Was != "g1" {
		t.Errorf("%+v", c)
	}
	if want := (drift.Kept{Introduced: 4, Surviving: 2, Verbatim: 2, Replaced: 2, Rate: 0.5}); r.Retention.Facts != want {
		t.Errorf("%+v, want %+v", r.Retention.Facts, want)
	}
}

func TestAFactThatIsRewordedAndLeftOutAtOnceIsNamedWithItsAuthor(t *testing.T) {
	prev, full, packed := doc("f1 the valve is open", "f2 red"), doc("g1<f1 the valve is shut", "f2 green"), doc()
	full.Handoff.From, packed.Handoff.From = "bob", "bob"
	full.KeyFacts[0].By, full.KeyFacts[1].By = "eve", "bob"
	prev.Task.State, full.Task.State = "half done", "all done"
	for _, id := range []string{"g1", "f2"} {
		packed.Omissions = append(packed.Omissions, envelope.Omission{Kind: envelope.PartFact, ID: id, Reason: envelope.OverBudget})
	}
	r := drift.OfPacked([]envelope.Envelope{prev, full}, []envelope.Envelope{prev, packed})
	want := []drift.Lost{
		{ID: "g1", Text: "the valve is shut", Why: "budget", Was: "f1", By: "eve", How: drift.Superseded, Before: "the valve is open"},
		{ID: "f2", Text: "green", Why: "budget", By: "bob", How: drift.Reworded, Before: "red"},
	}
	if h := r.Hops[0]; !slices.Equal(h.Facts.Omitted, want) || h.Facts.Changed != nil {
		t.Errorf("%+v", h.Facts)
	}
	if s := r.Retention.Facts; s.Replaced != 2 || s.Surviving != 0 {
		t.Errorf("%+v", s)
	}
	table := drift.Table(r)
	for _, want := range []string{
		`fact f1 → g1 superseded by eve, omitted (budget): "the valve is open" → "the valve is shut"`,
		`fact f2 reworded by bob, omitted (budget): "red" → "green"`, `state replaced by bob, lost: "half done" → "all done"`,
	} {
		if !strings.Contains(table, want) {
			t.Errorf("without %s:\n%s", want, table)
		}
	}
}

func TestALostTextIsNamed(t *testing.T) {
	prev, full, packed := doc(), doc(), doc()
	prev.ConversationSummary, full.Task.State = "They agreed on blue.", "half painted"
	packed.Omissions = []envelope.Omission{{Kind: envelope.PartState, Reason: envelope.OverBudget}}
	h := drift.OfPacked([]envelope.Envelope{prev, full}, []envelope.Envelope{prev, packed}).Hops[0]
	want := []drift.Lost{{ID: "state", Text: "half painted", Why: "budget"}, {ID: "summary", Text: "They agreed on blue."}}
	if !slices.Equal(h.LostTexts, want) {
		t.Errorf("%+v, want %+v", h.LostTexts, want)
	}
	if table := drift.Table(drift.Report{Hops: []drift.Hop{h}}); !strings.Contains(table, `state lost (budget): "half painted"`) || !strings.Contains(table, "summary lost: ") {
		t.Error(table)
	}
	if h := drift.Compare(full, full); h.LostTexts != nil {
		t.Errorf("kept: %+v", h.LostTexts)
	}
}

func TestWhatAColdHandoffLeavesOutIsNamed(t *testing.T) {
	prev, cold := doc(), doc()
	prev.Task.Data, prev.OpenQuestions = []byte(`{"order":7}`), []string{"Who pays?", "When?"}
	prev.History = []envelope.Step{{Agent: "ada", Action: "called the customer"}, {Agent: "ada", Action: "wrote a note"}}
	cold.Handoff.Kind = event.Cold
	h := drift.Compare(prev, cold)
	want := []drift.Lost{{ID: "data", Text: `{"order":7}`}, {ID: "open_questions", Text: "Who pays?\nWhen?"}, {ID: "history", Text: "steps: 2"}}
	if !slices.Equal(h.LostTexts, want) || h.ReplacedTexts != nil {
		t.Errorf("%+v, want %+v; replaced: %+v", h.LostTexts, want, h.ReplacedTexts)
	}
}

func TestAnIdThatIsUsedAgainAfterALossIsAnotherEntry(t *testing.T) {
	first, cold, again := doc(), doc(), doc()
	first.Decisions = []envelope.Item{{ID: "d1", Text: "Clean it with water.", By: "ada"}}
	cold.Handoff.Kind = event.Cold
	again.Decisions = []envelope.Item{{ID: "d1", Text: "Keep it dark for two nights.", By: "eve"}}
	for _, c := range []struct {
		name  string
		chain []envelope.Envelope
		want  drift.Kept
	}{
		{"another text", []envelope.Envelope{first, cold, again}, drift.Kept{Introduced: 2, Surviving: 1, Verbatim: 1, Rate: 0.5}},
		{"the same text", []envelope.Envelope{first, cold, first}, drift.Kept{Introduced: 1, Surviving: 1, Verbatim: 1, Rate: 1}},
		{"lost for good", []envelope.Envelope{first, cold, cold}, drift.Kept{Introduced: 1}},
	} {
		if got := drift.OfPacked(c.chain, c.chain).Retention.Decisions; got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestTheContinuityTextIsNotTheSenders(t *testing.T) {
	prev, next := doc(), doc()
	prev.ConversationSummary, next.ConversationSummary = "Conversation so far: 1 turn. Previous agents (turns): ada (1)", "Conversation so far: 2 turns. Previous agents (turns): ada (2)"
	if h := drift.Compare(prev, next); h.ReplacedTexts != nil {
		t.Errorf("%+v", h.ReplacedTexts)
	}
	prev.ConversationSummary = "They agreed on blue."
	if h := drift.Compare(prev, next); len(h.ReplacedTexts) != 1 {
		t.Errorf("%+v", h.ReplacedTexts)
	}
}

func TestQuestionsThatTheSenderClosedAndDataThatItReplacedAreNotLost(t *testing.T) {
	prev, next, packed := doc(), doc(), doc()
	prev.Task.Data, prev.OpenQuestions = []byte(`{"order":7}`), []string{"Who pays?"}
	next.Task.Data, next.Handoff.From, packed.Handoff.From = []byte(`{"order":8}`), "eve", "eve"
	h := drift.Compare(prev, next)
	want := []drift.Change{
		{ID: "data", By: "eve", How: drift.Replaced, Before: `{"order":7}`, After: `{"order":8}`},
		{ID: "open_questions", By: "eve", How: drift.Replaced, Before: "Who pays?"},
	}
	if !slices.Equal(h.ReplacedTexts, want) || h.LostTexts != nil {
		t.Errorf("%+v, want %+v; lost: %+v", h.ReplacedTexts, want, h.LostTexts)
	}
	packed.Omissions = []envelope.Omission{{Kind: envelope.PartData, Reason: envelope.OverBudget}}
	h = drift.OfPacked([]envelope.Envelope{prev, next}, []envelope.Envelope{prev, packed}).Hops[0]
	lost := []drift.Lost{{ID: "data", Text: `{"order":8}`, Why: "budget", By: "eve", How: drift.Replaced, Before: `{"order":7}`}}
	if !slices.Equal(h.LostTexts, lost) {
		t.Errorf("%+v, want %+v", h.LostTexts, lost)
	}
}

func TestAReplacedTextIsNamedWithItsSender(t *testing.T) {
	prev, next := doc(), doc()
	prev.Task.State, prev.ConversationSummary = "half done", "the customer is angry"
	next.Task.State, next.ConversationSummary, next.Handoff.From = "half done", "all is well", "eve"
	r := drift.Of([]envelope.Envelope{prev, next})
	want := []drift.Change{{ID: "summary", By: "eve", How: drift.Replaced, Before: "the customer is angry", After: "all is well"}}
	if got := r.Hops[0].ReplacedTexts; !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if line := `summary replaced by eve: "the customer is angry" → "all is well"`; !strings.Contains(drift.Table(r), line) {
		t.Errorf("the table is without %s:\n%s", line, drift.Table(r))
	}
}

func TestAChangedConstraintNamesThoseThatChangedIt(t *testing.T) {
	most := 9.0
	prev, next := doc(), doc()
	prev.Constraints = []envelope.Constraint{{ID: "c1", Kind: event.ConstraintBudget, Text: "Cents.", Origin: "operator/oda", Allow: []string{"a", "b"}}}
	next.Constraints = []envelope.Constraint{{
		ID: "c1", Kind: event.ConstraintBudget, Text: "Cents.", Origin: "operator/oda", Hard: true, HardBy: "agent/ann",
		Allow: []string{"a"}, AllowBy: "agent/bob", Max: &most, MaxBy: "agent/ann",
	}}
	r := drift.Of([]envelope.Envelope{prev, next})
	if got := r.Hops[0].Constraints.Changed; len(got) != 1 || got[0].By != "ann, bob" {
		t.Errorf("%+v", got)
	}
	if want := "constraint c1 tightened by ann, bob: "; !strings.Contains(drift.Table(r), want) {
		t.Errorf("the table is without %s:\n%s", want, drift.Table(r))
	}
}

func TestAnIntentIsKeptOnlyWordForWord(t *testing.T) {
	chain := []envelope.Envelope{doc(), doc(), doc()}
	chain[1].Task.Intent = "Say hello!"
	r := drift.Of(chain) // the last has the first one's words again
	if r.Hops[0].IntentKept || r.Hops[1].IntentKept || r.Retention.Intent.Rate != 0 || r.Retention.Overall.Rate != 0 {
		t.Errorf("%+v", r)
	}
}

func TestAChainWithoutHopsLosesNothing(t *testing.T) {
	for _, chain := range [][]envelope.Envelope{nil, {doc("f1 a")}} {
		r := drift.Of(chain)
		if len(r.Hops) != 0 || r.Retention.Overall.Rate != 1 {
			t.Errorf("%+v", r)
		}
		if raw, err := json.Marshal(r); err != nil || !strings.Contains(string(raw), `"hops":[]`) {
			t.Errorf("%s, %v", raw, err)
		}
	}
}

// TestTheTableTellsTheStory is one whole report as text, and as JSON.
func TestTheTableTellsTheStory(t *testing.T) {
	limit := 10.0
	chain := []envelope.Envelope{doc("f1 Both charges are 119.00 EUR", "f2 The plan renews on 12 March"), doc("f1 Both charges are 119 EUR"), doc("g1<f1 Refunded\u202e")}
	chain[0].Constraints = []envelope.Constraint{{ID: "c1", Kind: event.ConstraintBudget, Text: "Cents.", Max: &limit}}
	chain[1].Constraints = chain[0].Constraints
	chain[1].Packing = envelope.Packing{Strategy: event.StrategyPriority, Budget: 1000, Tokens: 905, Utilisation: 0.905, Tokenizer: "o200k_base", Completeness: 1}
	chain[2].Decisions = []envelope.Item{{ID: "d1", Text: "Refund it."}}
	chain[2].Handoff.From, chain[2].Handoff.To = "bob", []string{"cleo", "dan"}
	r := drift.Of(chain)
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{"testdata/story.txt": drift.Table(r), "testdata/story.json": string(raw) + "\n"} {
		if *update {
			if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil || string(want) != got {
			t.Errorf("%s (%v): got\n%s\nwant\n%s", name, err, got, want)
		}
	}
}

// TestEveryEntryIsInExactlyOneList holds for any two envelopes.
func TestEveryEntryIsInExactlyOneList(t *testing.T) {
	someFacts := rapid.Custom(func(t *rapid.T) envelope.Envelope {
		e := doc()
		e.Handoff.From = rapid.SampledFrom([]string{"ada", "bob"}).Draw(t, "from")
		for _, id := range rapid.SliceOfNDistinct(rapid.IntRange(0, 9), 0, 6, rapid.ID[int]).Draw(t, "ids") {
			item := envelope.Item{ID: fmt.Sprint(id), Text: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "text")}
			if old := rapid.IntRange(0, 12).Draw(t, "supersedes"); old != id {
				item.Supersedes = fmt.Sprint(old)
			}
			e.KeyFacts = append(e.KeyFacts, item)
		}
		if rapid.Bool().Draw(t, "omits") {
			e.Omissions = []envelope.Omission{{Kind: envelope.PartFact, ID: fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "omitted")), Reason: envelope.OverBudget}}
		}
		return e
	})
	rapid.Check(t, func(t *rapid.T) {
		chain := rapid.SliceOfN(someFacts, 2, 5).Draw(t, "chain")
		prev, next := chain[0], chain[1]
		c := drift.Compare(prev, next).Facts
		before, after := slices.Clone(c.Kept), slices.Concat(c.Kept, c.Added)
		for _, ch := range c.Changed {
			old := ch.ID
			if ch.Was != "" {
				old = ch.Was
			}
			before, after = append(before, old), append(after, ch.ID)
		}
		for _, l := range slices.Concat(c.Omitted, c.Dropped) {
			before = append(before, l.ID)
		}
		same(t, "earlier", before, prev.KeyFacts)
		same(t, "later", after, next.KeyFacts)

		packed := next
		packed.KeyFacts = slices.DeleteFunc(slices.Clone(next.KeyFacts), func(envelope.Item) bool { return rapid.Bool().Draw(t, "left out") })
		eachSaidOnce(t, prev, next, drift.OfPacked(chain[:2], []envelope.Envelope{prev, packed}).Hops[0].Facts)

		r := drift.Of(chain)
		s := r.Retention.Facts
		if s.Surviving > s.Introduced || s.Verbatim > s.Surviving || s.Surviving+s.Omitted+s.Replaced > s.Introduced || s.Surviving > len(chain[len(chain)-1].KeyFacts) {
			t.Fatalf("%+v", s)
		}
		if again := drift.Of(chain); !reflect.DeepEqual(again, r) || drift.Table(again) != drift.Table(r) {
			t.Fatal("two reports of one chain")
		}
	})
}

// eachSaidOnce holds for what a receiver was given less of than was said: the sender's words for a fact are in the lists once, whether given or not.
func eachSaidOnce(t *rapid.T, prev, said envelope.Envelope, c drift.Changes) {
	t.Helper()
	var ids []string
	texts := map[string]string{}
	ids = append(append(ids, c.Kept...), c.Added...)
	for _, ch := range c.Changed {
		ids, texts[ch.ID] = append(ids, ch.ID), ch.After
	}
	for _, l := range slices.Concat(c.Omitted, c.Dropped) {
		if slices.ContainsFunc(said.KeyFacts, func(i envelope.Item) bool { return i.ID == l.ID }) {
			ids, texts[l.ID] = append(ids, l.ID), l.Text
		} else if !slices.ContainsFunc(prev.KeyFacts, func(i envelope.Item) bool { return i.ID == l.ID }) {
			t.Fatalf("%+v is nobody's", l)
		}
	}
	same(t, "said", ids, said.KeyFacts)
	for _, i := range said.KeyFacts {
		if text, is := texts[i.ID]; is && text != i.Text {
			t.Fatalf("%s has the text %q, and %q is reported", i.ID, i.Text, text)
		}
	}
}

func same(t *rapid.T, which string, got []string, items []envelope.Item) {
	var want []string
	for _, i := range items {
		want = append(want, i.ID)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("%s: %q in the lists, %q in the envelope", which, got, want)
	}
}

func TestATextIsQuotedWithTheJoinersOfItsLanguage(t *testing.T) {
	of := func(text string) envelope.Envelope {
		return envelope.Envelope{KeyFacts: []envelope.Item{{ID: "f1", Text: text}}}
	}
	table := drift.Table(drift.Of([]envelope.Envelope{of("a \"b\"\\\n\u202e"), of("می\u200cخواهم \"b\"\\\nc")}))
	for _, want := range []string{`"a \"b\"\\\n\u202e"`, "\"می\u200cخواهم \\\"b\\\"\\\\\\nc\""} {
		if !strings.Contains(table, want) {
			t.Errorf("%s is not in\n%s", want, table)
		}
	}
}

func TestATableWithoutHopsSaysSo(t *testing.T) {
	if table := drift.Table(drift.Report{}); !strings.Contains(table, "There is no hop to compare") || strings.Contains(table, "retention") {
		t.Errorf("it is %q", table)
	}
}
