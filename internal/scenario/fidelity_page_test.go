package scenario

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/usecase/envelopes"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/tokenizer"
)

var update = flag.Bool("update", false, "rewrite the figures of docs/fidelity.md; commit only changes that you understand")

// The figures: how much of what was stated is in each prompt, and how much would be if every agent passed a summary on.

// statement is a statement in its newest wording.
type statement struct {
	kind     string
	id, text string
}

// statements are counted by kind, in this order.
var statements = []string{"intent", "constraints", "pinned", "facts", "decisions", "in summaries alone"}

// lines are all statements so far, except those that are meant to mislead.
type lines []statement

// begun is what is stated when the task is created.
func begun() lines {
	l := lines{{"intent", "", intent}}
	for _, k := range rules() {
		l = append(l, statement{"constraints", k.ID, k.Text})
	}
	for _, text := range pinnedMemory {
		l = append(l, statement{"pinned", text, text})
	}
	return l.with(briefing())
}

func (l lines) with(in envelopes.Content) lines {
	for _, p := range in.Facts {
		kind := "facts"
		if p.Pinned {
			kind = "pinned"
		}
		l = l.put(kind, p)
	}
	for _, p := range in.Decisions {
		l = l.put("decisions", p)
	}
	return l
}

// put adds a point, or rewords the one that it replaces.
func (l lines) put(kind string, p envelopes.Point) lines {
	i := slices.IndexFunc(l, func(s statement) bool { return s.id != "" && (s.id == p.ID || s.id == p.Supersedes) })
	if i < 0 {
		return append(l, statement{kind, p.ID, p.Text})
	}
	l[i].id, l[i].text = p.ID, p.Text
	return l
}

// say adds the statements of a leg's sender.
func (l *lines) say(x leg) {
	if x.lie == "" {
		*l = l.with(envelopes.Content{Facts: slices.Concat(x.says.Facts, x.late), Decisions: x.says.Decisions})
	}
	if x.rule != "" {
		*l = append(*l, statement{"constraints", "no-names", x.rule})
	}
	if x.aside != "" {
		*l = append(*l, statement{"in summaries alone", "", x.aside})
	}
}

// fresh is what the sender of a leg adds, as in a summary.
func fresh(x leg) (out []string) {
	for _, p := range slices.Concat(x.says.Facts, x.late, x.says.Decisions) {
		if x.lie == "" {
			out = append(out, p.Text)
		}
	}
	return slices.DeleteFunc(append([]string{x.rule, x.aside}, out...), func(s string) bool { return s == "" })
}

// order is what a scripted agent puts first into a short summary.
type order bool

const (
	newestFirst order = false // what is new, then the rest as it was read
	rulesFirst  order = true  // the intent, the constraints and what is pinned, then the same
)

// summaryTokens bounds a summary, by the default tokenizer.
const summaryTokens = 200

// summary is what a scripted agent passes on: word for word what is new and what it has read, as much as there is room
// for.
func (l lines) summary(read string, x leg, first order) string {
	type said struct {
		text  string
		place int
	}
	var all []said
	for _, text := range fresh(x) {
		all = append(all, said{text, -1})
	}
	for _, s := range l {
		if at := strings.Index(read, s.text); at >= 0 {
			all = append(all, said{s.text, at})
		}
	}
	rank := func(s said) int {
		i := slices.IndexFunc(l, func(x statement) bool { return x.text == s.text })
		if first == rulesFirst && slices.Contains(statements[:3], l[i].kind) {
			return slices.Index(statements, l[i].kind) - 3
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b said) int { return cmp.Or(rank(a)-rank(b), a.place-b.place) })
	var out []string
	used := 0
	for _, s := range all {
		if n := (tokenizer.Counter{}).Count(s.text) + 1; used+n <= summaryTokens {
			out, used = append(out, s.text), used+n
		}
	}
	return strings.Join(out, " ")
}

// promptShare is about the prompt of one agent.
type promptShare struct {
	agent          string
	tokens, budget int
	tokenizer      string
	there, said    [6]int // of each kind of statement
	listed         int    // of those that are not there, listed by id as left out
	frame          int    // tokens of the prompt that are not content
}

func figureOf(agent string, doc envelope.Envelope, text string, l lines) promptShare {
	f := promptShare{agent: agent, tokens: doc.Packing.Tokens, budget: doc.Packing.Budget, tokenizer: doc.Packing.Tokenizer}
	if c, err := tokenizer.For(f.tokenizer); err == nil && doc.Task.Intent != "" {
		f.frame = c.Count(text) - contentTokens(doc, c)
	}
	for _, s := range l {
		i := slices.Index(statements, s.kind)
		f.said[i]++
		if strings.Contains(text, s.text) {
			f.there[i]++
		} else if s.id != "" && slices.ContainsFunc(doc.Omissions, func(o envelope.Omission) bool { return o.ID == s.id && o.Count == 0 }) {
			f.listed++
		}
	}
	return f
}

// passedOn is the same chain with every agent getting only the summary of the one before. No agent lies.
func passedOn(t testing.TB, first order) []promptShare {
	t.Helper()
	l := begun()
	var all []string
	for _, s := range l {
		all = append(all, s.text)
	}
	text := strings.Join(all, " ")
	measure := func(agent, by string) promptShare {
		c, err := tokenizer.For(by)
		if err != nil {
			t.Fatal(err)
		}
		return figureOf(agent, envelope.Envelope{Packing: envelope.Packing{Tokens: c.Count(text), Tokenizer: c.Name()}}, text, l)
	}
	out := []promptShare{measure("planner", "")}
	for _, x := range legs() {
		if !x.mute {
			l.say(x)
			text = l.summary(text, x, first)
		}
		out = append(out, measure(x.to, x.spec.Tokenizer))
	}
	return out
}

// table shows the figures of one run.
func table(run []promptShare) string {
	var b strings.Builder
	b.WriteString("| handoff | receiver | " + strings.Join(statements, " | ") + " | tokens | frame | budget |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for i, f := range run {
		fmt.Fprintf(&b, "| %d | %s |", i, f.agent)
		for k := range statements {
			fmt.Fprintf(&b, " %d/%d |", f.there[k], f.said[k])
		}
		budget := "–"
		if f.budget > 0 {
			budget = fmt.Sprint(f.budget)
		}
		frame := "–"
		if f.frame > 0 {
			frame = fmt.Sprintf("%d %%", (100*f.frame+f.tokens/2)/f.tokens)
		}
		fmt.Fprintf(&b, " %d | %s | %s |\n", f.tokens, frame, budget)
	}
	return b.String()
}

// sideBySide is the last agent of each run.
func sideBySide(runs ...[]promptShare) string {
	var b strings.Builder
	b.WriteString("| at the end | Trapeze | summaries, newest first | summaries, rules first |\n|---|---|---|---|\n")
	row := func(what string, cell func(promptShare) string) {
		b.WriteString("| " + what + " |")
		for _, run := range runs {
			b.WriteString(" " + cell(run[len(run)-1]) + " |")
		}
		b.WriteString("\n")
	}
	for k, what := range statements {
		row(what, func(f promptShare) string { return fmt.Sprintf("%d of %d", f.there[k], f.said[k]) })
	}
	row("not there, but listed and to be fetched", func(f promptShare) string { return fmt.Sprint(f.listed) })
	row("tokens of the last prompt", func(f promptShare) string { return fmt.Sprint(f.tokens) })
	return b.String()
}

const (
	page        = "../../docs/fidelity.md"
	figureBegin = "<!-- figures: begin -->\n"
	figureEnd   = "<!-- figures: end -->\n"
)

// pageIsTrue compares docs/fidelity.md with a run.
func pageIsTrue(t testing.TB, run []promptShare) {
	t.Helper()
	newest, rules := passedOn(t, newestFirst), passedOn(t, rulesFirst)
	figures := sideBySide(run, newest, rules) + "\n### Through Trapeze\n\n" + table(run) +
		"\n### Summaries passed on, the newest first\n\n" + table(newest) + "\n### Summaries passed on, the rules first\n\n" + table(rules)
	t.Log("\n" + figures)
	old, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(old), figureBegin)
	_, after, ends := strings.Cut(rest, figureEnd)
	if !begins || !ends {
		t.Fatalf("%s has no place for figures", page)
	}
	want := before + figureBegin + "\n" + figures + "\n" + figureEnd + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(old) != want {
		t.Errorf("%s does not say what was measured: run go test ./internal/scenario -run TwelveHandoffs -update and look at the difference", page)
	}
}
