package packing_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/packing"
	"github.com/trapezehq/trapeze/internal/content/tokenizer"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

var salt = []byte("0123456789abcdef")

func counter(t testing.TB, name string) tokenizer.Counter {
	t.Helper()
	c, err := tokenizer.For(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// task has some of everything.
func task() envelope.Envelope {
	e := envelope.Envelope{
		Handoff: envelope.Header{TaskID: "case-1", From: "triage", Detail: "Above my limit.", Notes: "Calls back at 15:00."},
		Task: envelope.Task{
			Intent: "I want the second charge back.", Ask: "Approve the refund.", State: "Identity verified.",
			Data: json.RawMessage(`{"charges":[4410,4411]}`),
		},
		ConversationSummary: "Calm.",
		OpenQuestions:       []string{"Does the plan stay active?"},
		Constraints:         []envelope.Constraint{{ID: "c1", Kind: event.ConstraintProhibition, Text: "Do not cancel the plan.", Hard: true}},
		ExpectedOutput:      envelope.Expected{Criteria: []string{"Names the refund's number."}},
		Decisions:           []envelope.Item{{ID: "d1", Text: "Refund the later charge.", Reasoning: "The earlier one started the plan."}},
		History: []envelope.Step{
			{Agent: "triage", Action: "Found both charges"},
			{Agent: "triage", Action: "Searched by card", Tool: "crm.search"},
		},
		Artifacts:    []envelope.Artifact{{Digest: envelope.DigestOf(nil), Name: "form.pdf"}},
		Conversation: []envelope.Turn{{Agent: "customer", Text: "Twice!"}, {Agent: "triage", Text: "I see."}},
		Gaps:         []envelope.Gap{{Kind: envelope.PartMemory, ID: "m9", Reason: envelope.GapForgotten}},
	}
	for i := range 6 {
		e.KeyFacts = append(e.KeyFacts, envelope.Item{ID: fmt.Sprint("f", i), Text: fmt.Sprintf("Charge %d is one of several.", i)})
		e.Memory = append(e.Memory, envelope.MemoryRef{
			ID: fmt.Sprint("m", i), Version: 1, Title: fmt.Sprint("Note ", i),
			Text: strings.Repeat(fmt.Sprintf("Line %d of a longer note. ", i), 4+2*i),
		})
	}
	e.Memory = append(e.Memory, envelope.MemoryRef{ID: "lazy", Tokens: 77})
	return e
}

func pack(t testing.TB, doc envelope.Envelope, o packing.Options) packing.Packed {
	t.Helper()
	p, err := packing.Pack(doc, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// out lists what was left out: kind, id and reason.
func out(p packing.Packed) []string {
	var list []string
	for _, o := range p.Envelope.Omissions {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s", o.Kind, o.ID))+" "+string(o.Reason))
	}
	return list
}

// Ids that an agent makes long, and words of an operator that it replaces by long ones, neither make a prompt too long nor are left out in silence.
func TestWhatMustSurviveGrowsLittleByTheIDsOfAnAgent(t *testing.T) {
	doc := envelope.Envelope{Version: envelope.Version, Handoff: envelope.Header{TaskID: "t1", From: "mal"}, Task: envelope.Task{Intent: "Small task", Ask: "look"}}
	least := func() int {
		t.Helper()
		_, err := packing.Pack(doc, packing.Options{Budget: 1})
		e, ok := refusal.As(err)
		if !ok {
			t.Fatal(err)
		}
		return e.Details["needed"].(int)
	}
	for i := range 42 {
		id := fmt.Sprintf("q7Zx-%02dKj.v_%s", i, strings.Repeat("wQ9-kX2_", 6))
		item := envelope.Item{ID: id, Text: strings.Repeat("x ", 20), By: "mal", Weight: envelope.Weight{Pinned: i < 10, Importance: 1}}
		doc.KeyFacts, doc.Decisions = append(doc.KeyFacts, item), append(doc.Decisions, item)
	}
	if n := least(); n > 450 {
		t.Errorf("what must survive takes %d tokens, by ids alone", n)
	}
	for range 2 { // by its id, and by that of another
		last := len(doc.KeyFacts) - 1
		doc.KeyFacts[last] = envelope.Item{ID: "stop", Text: strings.Repeat("see the notes of the notes; ", 99), By: "mal", WasBy: "ann", EarlierBy: []string{"operator/olga"}, Weight: envelope.Weight{Pinned: true}}
		packed, err := packing.Pack(doc, packing.Options{Budget: 500})
		if err != nil || !strings.Contains(packed.Text, "stop (by mal, replaces what operator/olga said)") {
			t.Errorf("%v: nothing says that mal replaced what olga said in\n%s", err, packed.Text)
		}
		doc.KeyFacts[last].Supersedes = "go"
	}
}

func TestWhatIsLeftOutByDefaultIsListed(t *testing.T) {
	p := pack(t, task(), packing.Options{})
	want := []string{"reasoning d1 settled", "step 2 tool_call", "memory lazy on_demand", "conversation log"}
	if got := out(p); !slices.Equal(got, want) {
		t.Errorf("without a budget %q was left out, want %q", got, want)
	}
	for _, gone := range []string{"started the plan", "Searched by card", "Twice!"} {
		if strings.Contains(p.Text, gone) {
			t.Errorf("%q is there", gone)
		}
	}
	for _, there := range []string{"conversation ×2", "memory lazy (77 tokens)", "memory (forgotten since): m9"} {
		if !strings.Contains(p.Text, there) {
			t.Errorf("%q is not in\n%s", there, p.Text)
		}
	}
	if k := p.Envelope.Packing; k.Completeness != 8.0/9 || k.Utilisation != 0 || k.Tokens != p.Tokens || k.Tokenizer != "o200k_base" || k.Estimate {
		t.Errorf("it says %+v", k)
	}
}

func TestFullKeepsEverythingOrRefuses(t *testing.T) {
	o := packing.Options{Strategy: event.StrategyFull}
	p := pack(t, task(), o)
	if got := out(p); !slices.Equal(got, []string{"memory lazy on_demand"}) {
		t.Errorf("left out %q", got)
	}
	for _, there := range []string{"started the plan", "Searched by card", "Twice!"} {
		if !strings.Contains(p.Text, there) {
			t.Errorf("%q is missing", there)
		}
	}
	o.Budget = p.Tokens
	if q := pack(t, task(), o); q.Tokens != o.Budget || q.Envelope.Packing.Utilisation != 1 {
		t.Errorf("%d tokens in a budget of exactly %d", q.Tokens, o.Budget)
	}
	o.Budget = 300
	_, err := packing.Pack(task(), o)
	if r, ok := refusal.As(err); !ok || r.Code != refusal.Budget || r.Details["needed"].(int) <= 300 {
		t.Errorf("got %v", err)
	}
}

func TestABudgetTooSmallForWhatMustSurviveSaysWhatIsNeeded(t *testing.T) {
	for _, name := range []string{"", tokenizer.Cl100kBase, "unheard-of"} {
		o := packing.Options{Budget: 100, Counter: counter(t, name)}
		_, err := packing.Pack(task(), o)
		r, ok := refusal.As(err)
		if !ok || r.Code != refusal.Budget || !strings.Contains(r.Message, "take") {
			t.Fatalf("got %v", err)
		}
		needed, ok := r.Details["needed"].(int)
		if !ok || needed <= o.Budget {
			t.Fatalf("details %v", r.Details)
		}
		o.Budget = needed
		if p := pack(t, task(), o); p.Tokens > needed || !strings.Contains(p.Text, "I want the second charge back.") {
			t.Errorf("%d tokens, needed %d:\n%s", p.Tokens, needed, p.Text)
		}
		o.Budget--
		if _, err := packing.Pack(task(), o); refusal.CodeOf(err) != refusal.Budget {
			t.Errorf("one token less: %v", err)
		}
	}
}

func TestPinsComeBeforeWhatIsWorthMore(t *testing.T) {
	doc := task()
	o := packing.Options{Budget: 640}
	free := pack(t, doc, o)
	if !slices.Contains(out(free), "memory m5 budget") {
		t.Fatalf("the budget does not bind: %q", out(free))
	}
	doc.Memory[5].Pinned = true
	for name, p := range map[string]packing.Packed{
		"by the document": pack(t, doc, o),
		"by the options": pack(t, task(), packing.Options{
			Budget: o.Budget, Pinned: []packing.Ref{{Kind: envelope.PartMemory, ID: "m5"}},
		}),
	} {
		if !strings.Contains(p.Text, doc.Memory[5].Text) || p.Tokens > o.Budget {
			t.Errorf("%s: pinned, %d tokens, without m5: %q", name, p.Tokens, out(p))
		}
	}
}

func TestWhatAgentsPinDisplacesNoPinnedItemOfAnOperator(t *testing.T) {
	doc := envelope.Envelope{Handoff: envelope.Header{TaskID: "case-1", From: "triage"}, Task: envelope.Task{Intent: "Move the tables."}}
	const rule = "Nothing is moved on a Friday, for no reason and for no customer."
	for i := range 40 {
		w := envelope.Weight{Pinned: true, Importance: 1}
		doc.KeyFacts = append(doc.KeyFacts, envelope.Item{ID: fmt.Sprint("f", i), Text: fmt.Sprintf("Bananas %d.", i), Weight: w})
		doc.Memory = append(doc.Memory, envelope.MemoryRef{ID: fmt.Sprint("a", i), Author: "triage", Text: fmt.Sprintf("Bananas %d.", 40+i), Weight: w})
	}
	doc.Memory = append(doc.Memory, envelope.MemoryRef{ID: "m", Author: "operator/ann", Text: rule, Weight: envelope.Weight{Pinned: true}})
	whole := pack(t, doc, packing.Options{}).Tokens
	for budget := 250; budget <= whole; budget += 20 {
		if p := pack(t, doc, packing.Options{Budget: budget}); !strings.Contains(p.Text, rule) {
			t.Fatalf("with %d of %d tokens, what an operator has pinned is left out:\n%s", budget, whole, p.Text)
		}
	}
}

// A long list of omissions is dearer than small facts, and cheaper than what it would push out.
func TestALargerBudgetNeverLosesWhatComesFirst(t *testing.T) {
	for _, pinned := range []bool{false, true} {
		doc := envelope.Envelope{Handoff: envelope.Header{TaskID: "case-1", From: "triage"}, Task: envelope.Task{Intent: "Move the tables."}}
		for i := range 25 {
			doc.KeyFacts = append(doc.KeyFacts, envelope.Item{ID: fmt.Sprint("f", i), Text: fmt.Sprintf("Table %d has %d rows and moves in batch %d.", i, 1117*i, i)})
		}
		long := strings.Repeat("They talked about the charges. ", 35)
		if pinned {
			doc.Memory = []envelope.MemoryRef{{ID: "m", Text: long, Weight: envelope.Weight{Pinned: true}}}
		} else {
			doc.ConversationSummary = long
		}
		first, whole := false, pack(t, doc, packing.Options{}).Tokens
		for budget := 250; budget <= whole; budget += 3 {
			p := pack(t, doc, packing.Options{Budget: budget})
			has := strings.Contains(p.Text, long)
			if first && !has {
				t.Fatalf("with %d tokens, %d facts of no weight push out what comes first", budget, len(p.Envelope.KeyFacts))
			}
			first = has
		}
		if !first {
			t.Error("what comes first is never in")
		}
	}
}

func TestAPartThatDoesNotFitIsSkippedAndTheNextIsTried(t *testing.T) {
	doc := task()
	doc.Task.State = strings.Repeat("A very long account of the state. ", 200)
	p := pack(t, doc, packing.Options{Budget: 900})
	if got := out(p); !slices.Contains(got, "state budget") || slices.Contains(got, "fact f5 budget") {
		t.Errorf("left out %q", got)
	}
	long := task()
	long.KeyFacts = append(long.KeyFacts, envelope.Item{ID: "long", Text: strings.Repeat("A long fact that nobody has weighed. ", 100)})
	if l := pack(t, long, packing.Options{Budget: 1300}); l.Tokens > 1200 || !strings.Contains(l.Text, "part=fact:long)\n") || !strings.Contains(l.Text, " tokens): long\n") {
		t.Errorf("with %d of 1300 tokens the prompt does not name the only fact that it leaves out, or how it is fetched:\n%s", l.Tokens, l.Text)
	}
	huge := task()
	huge.KeyFacts[0].Text, huge.KeyFacts[0].Pinned = strings.Repeat("pinned ", 2000), true
	q := pack(t, huge, packing.Options{Budget: 900})
	i := slices.IndexFunc(q.Envelope.Omissions, func(o envelope.Omission) bool { return o.ID == "f0" })
	if i < 0 || !q.Envelope.Omissions[i].Pinned || q.Envelope.Omissions[i].Tokens < 2000 || len(q.Envelope.KeyFacts) != 5 {
		t.Errorf("a pin that cannot fit: %+v", q.Envelope.Omissions)
	}
	if !strings.Contains(q.Text, "part=fact:f0)\n") || !strings.Contains(q.Text, "pinned fact (") {
		t.Errorf("a pin that cannot fit is not named:\n%s", q.Text)
	}
}

func TestImportanceDecidesBetweenPartsOfOneLength(t *testing.T) {
	for _, best := range []int{0, 3} {
		doc := envelope.Envelope{Handoff: task().Handoff, Task: envelope.Task{Intent: "x"}}
		for i := range 30 {
			doc.KeyFacts = append(doc.KeyFacts, envelope.Item{ID: fmt.Sprint("f", 10+i), Text: strings.Repeat("Some words. ", 10)})
		}
		doc.KeyFacts[best].Importance, doc.KeyFacts[29].Importance = 1, 1
		p := pack(t, doc, packing.Options{Budget: 350})
		ids := []string{}
		for _, f := range p.Envelope.KeyFacts {
			ids = append(ids, f.ID)
		}
		if !slices.Contains(ids, doc.KeyFacts[best].ID) || !slices.Contains(ids, doc.KeyFacts[29].ID) || len(ids) > 10 {
			t.Errorf("kept %q", ids)
		}
	}
}

func TestTheOtherStrategiesLeaveTextsToBeFetched(t *testing.T) {
	for strategy, want := range map[event.Strategy]string{
		event.StrategySummaryRefs: "data on_demand, reasoning d1 settled, step 1 on_demand, step 2 tool_call, memory m0 on_demand, " +
			"memory m1 on_demand, memory m2 on_demand, memory m3 on_demand, memory m4 on_demand, memory lazy on_demand, conversation log",
		event.StrategyLazy: "summary on_demand, data on_demand, fact f0 on_demand, fact f1 on_demand, fact f2 on_demand, fact f3 on_demand, " +
			"fact f4 on_demand, fact f5 on_demand, decision d1 on_demand, reasoning d1 settled, step 1 on_demand, step 2 tool_call, " +
			"memory m0 on_demand, memory m1 on_demand, memory m2 on_demand, memory m3 on_demand, memory m4 on_demand, memory lazy on_demand, conversation log",
	} {
		doc := task()
		doc.Memory[5].Pinned = true
		p := pack(t, doc, packing.Options{Strategy: strategy, Budget: 1500})
		if got := strings.Join(out(p), ", "); got != want {
			t.Errorf("%s left out\n%s, want\n%s", strategy, got, want)
		}
		if len(p.Envelope.Memory) != 7 || p.Envelope.Memory[0].Text != "" || p.Envelope.Memory[0].Tokens == 0 || p.Envelope.Memory[5].Text == "" {
			t.Errorf("%s: references %+v", strategy, p.Envelope.Memory)
		}
		if !strings.Contains(p.Text, "memory m0 (") || !strings.Contains(p.Text, "Identity verified.") {
			t.Errorf("%s: the prompt does not say what to fetch:\n%s", strategy, p.Text)
		}
	}
}

func TestAPinnedReasonGoesWithItsDecision(t *testing.T) {
	p := pack(t, task(), packing.Options{Pinned: []packing.Ref{
		{Kind: envelope.PartReasoning, ID: "d1"},
		{Kind: envelope.PartConversation},
		{Kind: envelope.PartStep, ID: "2"},
		{Kind: envelope.PartFact, ID: "nowhere"},
	}})
	if got := out(p); !slices.Equal(got, []string{"memory lazy on_demand"}) || !strings.Contains(p.Text, "Why: The earlier one") {
		t.Errorf("left out %q", got)
	}
}

func TestALongListOfOmissionsIsShownInBriefAndKeptInFull(t *testing.T) {
	doc := task()
	for i := range 400 {
		doc.KeyFacts = append(doc.KeyFacts, envelope.Item{ID: fmt.Sprint("more", 2*i), Text: strings.Repeat("Something that is known. ", 8)})
	}
	p := pack(t, doc, packing.Options{Budget: 2000})
	if k := p.Envelope.Packing; k.Listing != envelope.ListGroups || k.Utilisation < 0.9 {
		t.Errorf("packed as %+v", k)
	}
	if !strings.Contains(p.Text, "\nfact ×") || len(p.Envelope.Omissions) < 350 {
		t.Errorf("%d omissions:\n%s", len(p.Envelope.Omissions), p.Text)
	}
}

func TestMoreOmissionsThanADocumentMayListAreSummedUp(t *testing.T) {
	doc := task()
	doc.History = nil
	for range envelope.MaxHistory {
		doc.History = append(doc.History, envelope.Step{Agent: "a", Action: "Did something that took a while."})
	}
	for i := range 300 {
		doc.Decisions = append(doc.Decisions, envelope.Item{ID: fmt.Sprint("more", i), Text: "Some decision or other, at length."})
	}
	p := pack(t, doc, packing.Options{Budget: 800, Counter: counter(t, "")})
	parts := 0
	for _, o := range p.Envelope.Omissions {
		parts += o.Parts()
	}
	kept := len(p.Envelope.History) + len(p.Envelope.Decisions)
	if len(p.Envelope.Omissions) > envelope.MaxOmissions || parts+kept < envelope.MaxHistory+301 {
		t.Errorf("%d omissions of %d parts, %d kept", len(p.Envelope.Omissions), parts, kept)
	}
	if _, err := envelope.Seal(p.Envelope, salt); err != nil {
		t.Error(err)
	}
}

func TestWhatCannotBePackedIsRefused(t *testing.T) {
	packed := pack(t, task(), packing.Options{}).Envelope
	broken := task()
	broken.Task.Intent = ""
	for name, c := range map[string]struct {
		doc envelope.Envelope
		o   packing.Options
	}{
		"a packed envelope":   {packed, packing.Options{}},
		"no envelope":         {broken, packing.Options{}},
		"a negative budget":   {task(), packing.Options{Budget: -1}},
		"an enormous budget":  {task(), packing.Options{Budget: 1 << 40}},
		"an unknown strategy": {task(), packing.Options{Strategy: "luck"}},
	} {
		if _, err := packing.Pack(c.doc, c.o); refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatHasJustBeenSealedIsNotCheckedAgain(t *testing.T) {
	e := task()
	e.Handoff.Kind = "none"
	if _, err := packing.Pack(e, packing.Options{}); refusal.CodeOf(err) != refusal.Invalid {
		t.Errorf("checked: %v", err)
	}
	if _, err := packing.Pack(e, packing.Options{Sealed: true}); err != nil {
		t.Errorf("checked again: %v", err)
	}
}

func TestAnOlderDocumentIsPackedAsANewerOne(t *testing.T) {
	doc := envelope.Envelope{Version: "1.0", Handoff: task().Handoff, Task: task().Task}
	p := pack(t, doc, packing.Options{Budget: 2000})
	if _, err := envelope.Seal(p.Envelope, salt); err != nil || p.Envelope.Version != envelope.Version {
		t.Errorf("version %s: %v", p.Envelope.Version, err)
	}
}
