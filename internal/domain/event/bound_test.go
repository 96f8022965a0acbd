package event

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestTextAndJSONAreBounded(t *testing.T) {
	for text, want := range map[string]refusal.Code{"": "", "fine\n": "", "\xff": refusal.Invalid, "12345678901": refusal.TooLarge} {
		if got := refusal.CodeOf(CheckText("the note", text, 10)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for text, want := range map[string]refusal.Code{
		"": "", `{"a":"[[[[\"[["}`: "", deep(MaxJSONDepth): "", deep(MaxJSONDepth + 1): refusal.Invalid, "{": refusal.Invalid,
		"\"\xff\"": refusal.Invalid, `"` + strings.Repeat("x", 1000) + `"`: refusal.TooLarge,
	} {
		if got := refusal.CodeOf(CheckJSON("the data", json.RawMessage(text), 1000)); got != want {
			t.Errorf("%.20q: %q, want %q", text, got, want)
		}
	}
}

func TestDurationsAreNeitherNegativeNorAbsurd(t *testing.T) {
	for d, ok := range map[time.Duration]bool{
		0: true, MinDuration: true, MaxDuration: true, MinDuration - 1: false, MaxDuration + 1: false, -time.Second: false,
		math.MaxInt64: false, math.MinInt64: false,
	} {
		if err := (Timeouts{Lease: Duration(d)}).Check(); (err == nil) != ok {
			t.Errorf("%s: %v", d, err)
		}
	}
}

func TestAConstraintOnlyTightens(t *testing.T) {
	most := func(v float64) *float64 { return &v }
	base := Constraint{ID: "c", Kind: ConstraintBudget, Text: "spend little", Max: most(10), Allow: []string{"a", "b"}}
	for name, c := range map[string]struct {
		change func(*Constraint)
		tight  bool
	}{
		"the same":                 {func(*Constraint) {}, true},
		"a smaller maximum":        {func(c *Constraint) { c.Max = most(9) }, true},
		"a larger maximum":         {func(c *Constraint) { c.Max = most(11) }, false},
		"no maximum":               {func(c *Constraint) { c.Max = nil }, false},
		"fewer allowed":            {func(c *Constraint) { c.Allow = []string{"b"} }, true},
		"none allowed":             {func(c *Constraint) { c.Allow = []string{} }, true},
		"others allowed":           {func(c *Constraint) { c.Allow = []string{"c"} }, false},
		"anything allowed":         {func(c *Constraint) { c.Allow = nil }, false},
		"hard":                     {func(c *Constraint) { c.Hard = true }, true},
		"other words":              {func(c *Constraint) { c.Text = "spend much" }, false},
		"about something else":     {func(c *Constraint) { c.Kind = ConstraintFormat }, false},
		"a maximum that is no sum": {func(c *Constraint) { c.Max = most(math.NaN()) }, false},
	} {
		k := base
		c.change(&k)
		if got := k.Check() == nil && k.Tightens(base); got != c.tight {
			t.Errorf("%s: %v, want %v", name, got, c.tight)
		}
	}
	if (Constraint{Allow: []string{}}).Equal(Constraint{}) {
		t.Error("nothing allowed is taken for anything allowed")
	}
	hard := base
	hard.Hard = true
	if base.Tightens(hard) {
		t.Error("soft is tighter than hard")
	}
}

func TestConstraintsAreCapped(t *testing.T) {
	var many []Constraint
	for range MaxConstraints + 1 {
		many = append(many, Constraint{ID: "c" + strings.Repeat("x", len(many)%60) + string(rune('a'+len(many)/60)), Kind: ConstraintFormat, Text: "x"})
	}
	if err := CheckConstraints(many); refusal.CodeOf(err) != refusal.TooLarge {
		t.Errorf("%d constraints: %v", len(many), err)
	}
	if err := CheckConstraints(many[:3]); err != nil {
		t.Error(err)
	}
	if err := CheckConstraints([]Constraint{many[0], many[0]}); refusal.CodeOf(err) != refusal.Invalid {
		t.Errorf("the same twice: %v", err)
	}
}

func TestSumsOfBudgetsStayWithinBounds(t *testing.T) {
	b := Budget{Tokens: 1 << 50, Cost: 1}
	for range 100 {
		b = b.Plus(b)
	}
	if b.Tokens <= 0 || b.Cost <= 0 || (Budget{}).Minus(b).Minus(b).Tokens >= 0 {
		t.Errorf("%+v", b)
	}
}

func TestDataIsKeptWithoutIdleSpace(t *testing.T) {
	r := Result{Data: json.RawMessage("{ \"a\" : 1 }\n")}.Compact()
	if string(r.Data) != `{"a":1}` {
		t.Errorf("%s", r.Data)
	}
	if e := (Expected{}).Compact(); e.Schema != nil {
		t.Errorf("%q out of nothing", e.Schema)
	}
}

func TestHowToPackIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		pack Pack
		want refusal.Code
	}{
		"nothing said":         {Pack{}, ""},
		"the most of all":      {Pack{Tokens: MaxPackTokens, Strategy: "summary_refs", Pinned: slices.Repeat([]string{strings.Repeat("x", MaxPin)}, MaxPinned)}, ""},
		"fewer than no tokens": {Pack{Tokens: -1}, refusal.Invalid},
		"too many tokens":      {Pack{Tokens: MaxPackTokens + 1}, refusal.Invalid},
		"an unknown strategy":  {Pack{Strategy: "luck"}, refusal.Invalid},
		"too many pins":        {Pack{Pinned: slices.Repeat([]string{"f1"}, MaxPinned+1)}, refusal.TooLarge},
		"too long a pin":       {Pack{Pinned: []string{strings.Repeat("x", MaxPin+1)}}, refusal.TooLarge},
		"an empty pin":         {Pack{Pinned: []string{""}}, refusal.Invalid},
		"a pin that is none":   {Pack{Pinned: []string{"\xff"}}, refusal.Invalid},
	} {
		if got := refusal.CodeOf(c.pack.Check()); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestARenditionHasBytesASourceAndFigures(t *testing.T) {
	for name, change := range map[string]func(*Rendered){
		"no bytes":              func(e *Rendered) { e.Bytes = nil },
		"no digest":             func(e *Rendered) { e.Digest = "" },
		"its source":            func(e *Rendered) { e.Digest = e.Source },
		"bytes of its source":   func(e *Rendered) { e.Digest, e.Parent = e.Source, "" },
		"its source in part":    func(e *Rendered) { e.Digest, e.Parent, e.Bytes, e.Omitted = e.Source, "", nil, 1 },
		"another parent":        func(e *Rendered) { e.Parent = "sha256:3" },
		"no number":             func(e *Rendered) { e.Utilisation = math.NaN() },
		"no end":                func(e *Rendered) { e.Completeness = math.Inf(1) },
		"fewer than no tokens":  func(e *Rendered) { e.Tokens = -1 },
		"less than no fullness": func(e *Rendered) { e.Completeness = -0.1 },
	} {
		if err := (Rendered{Source: "sha256:1", Digest: "sha256:1", Tokens: 7, Completeness: 1}).Check(); err != nil {
			t.Fatalf("an envelope that fits as it is: %v", err)
		}
		e := Rendered{Source: "sha256:1", Digest: "sha256:2", Parent: "sha256:1", Bytes: json.RawMessage(`{}`), Utilisation: 0.4, Completeness: 1}
		if err := e.Check(); err != nil {
			t.Fatal(err)
		}
		change(&e)
		if err := e.Check(); refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestABudgetIsSplitAndNeverIntoNothing(t *testing.T) {
	limited := Budget{Tokens: 100}
	for name, c := range map[string]struct {
		left  int64
		asked []int64
		want  []int64 // nil: not enough
	}{
		"equal shares":             {100, []int64{0, 0, 0}, []int64{33, 33, 33}},
		"a share and what is left": {100, []int64{80, 0}, []int64{80, 20}},
		"all that is left":         {50, []int64{50}, []int64{50}},
		"more than is left":        {50, []int64{51}, nil},
		"nothing for the second":   {50, []int64{50, 0}, nil},
		"nothing left":             {0, []int64{0}, nil},
		"overspent":                {-5, []int64{0}, nil},
		"one for each":             {2, []int64{0, 0}, []int64{1, 1}},
	} {
		var asked, want []Budget
		for _, n := range c.asked {
			asked = append(asked, Budget{Tokens: n, Cost: 7})
		}
		for _, n := range c.want {
			want = append(want, Budget{Tokens: n, Cost: 7})
		}
		got, ok := limited.Split(Budget{Tokens: c.left}, asked)
		if ok != (c.want != nil) || ok && !slices.Equal(got, want) {
			t.Errorf("%s: %+v %v, want %+v", name, got, ok, want)
		}
	}
}
