package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Match is what the rules say of a situation.
type Match struct {
	Rule   *Rule    // the first that matches; nil if none does
	Why    []string // its conditions that hold, in words
	Passed []Passed // the rules before it, and why each did not match
	Broken []Passed // those of them whose expression could not be evaluated
}

// Passed is a rule that did not match, and why.
type Passed struct {
	Rule string `json:"rule"`
	Why  string `json:"why"`
}

// condition is what of a rule was made ready once.
type condition struct {
	words   []string // keywords as normal has them
	program *program
}

// Match finds the first rule that matches. It ends with ctx's error if ctx ends. A nil Policy has no rules.
func (p *Policy) Match(ctx context.Context, s *Situation) (Match, error) {
	m := Match{}
	if p == nil {
		return m, nil
	}
	l := look{of: s, facts: activation{of: s, known: map[string]any{}}}
	for i := range p.Rules {
		if err := ctx.Err(); err != nil {
			return m, err
		}
		rule := &p.Rules[i]
		why, not, broken := l.holds(rule, &p.exact[i])
		if not == "" {
			if len(why) == 0 {
				why = []string{"it has no conditions"}
			}
			m.Rule, m.Why = rule, why
			return m, nil
		}
		m.Passed = append(m.Passed, Passed{rule.Name, not})
		if broken {
			m.Broken = append(m.Broken, Passed{rule.Name, not})
		}
	}
	return m, ctx.Err()
}

// look is one matching: what was made of the situation so far, and what it cost.
type look struct {
	of    *Situation
	facts activation
	text  string // intent and ask, as normal has them, with a space at each end
	set   map[string]bool
	cost  uint64
}

// holds says why a rule's conditions hold, or why not; broken, if that cannot be said.
func (l *look) holds(r *Rule, c *condition) (why []string, not string, broken bool) {
	w, t := &r.When, &l.of.Task
	for _, test := range []struct {
		given, holds bool
		yes, no      func() string
	}{
		{len(w.From) > 0, slices.Contains(w.From, l.of.Agent.Name), l.from, l.from},
		{len(w.Tags) > 0, slices.ContainsFunc(w.Tags, l.tagged), func() string { return "tag " + w.Tags[slices.IndexFunc(w.Tags, l.tagged)] }, func() string { return "none of its tags" }},
		{w.StepsAbove != nil, w.StepsAbove != nil && t.Steps > *w.StepsAbove, l.steps, l.steps},
		{w.TokensAbove != nil, w.TokensAbove != nil && t.Tokens > *w.TokensAbove, l.tokens, l.tokens},
		{w.ElapsedAbove > 0, t.Elapsed > w.ElapsedAbove, l.elapsed, l.elapsed},
		{w.ConfidenceBelow != nil, w.ConfidenceBelow != nil && l.of.Envelope.Confidence != nil && *l.of.Envelope.Confidence < *w.ConfidenceBelow, l.confidence, l.confidence},
	} {
		switch {
		case !test.given:
		case !test.holds:
			return nil, test.no(), false
		default:
			why = append(why, test.yes())
		}
	}
	if len(c.words) > 0 {
		i := slices.IndexFunc(c.words, l.says)
		if i < 0 {
			return nil, "none of its keywords", false
		}
		why = append(why, "keyword "+r.When.Keywords[i])
	}
	if c.program == nil {
		return why, "", false
	}
	yes, err := l.true(c.program)
	switch {
	case err != nil:
		return nil, "its expression could not be evaluated: " + refusal.Clip(err.Error(), 200), true
	case !yes:
		return nil, "its expression is false", false
	}
	return append(why, "its expression is true"), "", false
}

func (l *look) from() string {
	if l.of.Agent.Name == "" {
		return "held by nobody"
	}
	return "held by " + l.of.Agent.Name
}
func (l *look) tagged(tag string) bool { return slices.Contains(l.of.Task.Tags, tag) }
func (l *look) steps() string          { return fmt.Sprintf("%d steps", l.of.Task.Steps) }
func (l *look) tokens() string         { return fmt.Sprintf("%d tokens spent", l.of.Task.Tokens) }
func (l *look) elapsed() string {
	return event.Duration(time.Duration(l.of.Task.Elapsed).Round(time.Second)).String() + " since it was created"
}

func (l *look) confidence() string {
	if l.of.Envelope.Confidence == nil {
		return "nobody said how sure it is"
	}
	return fmt.Sprintf("confidence %v", *l.of.Envelope.Confidence)
}

// true evaluates an expression, unless the situation has cost too much already.
func (l *look) true(p *program) (bool, error) {
	if l.cost > MaxTotalCost {
		return false, fmt.Errorf("the expressions before it cost more than %d", MaxTotalCost)
	}
	yes, cost, err := p.holds(&l.facts)
	if err != nil {
		cost = max(cost, MaxCost/10) // what failed may have cost as much as it liked; count it as dear
	}
	l.cost += cost
	return yes, err
}

// says reports whether a keyword, in normal form, is in the intent or the ask.
func (l *look) says(word string) bool {
	if l.set == nil {
		l.text = " " + normal(l.of.Task.Intent) + " \n " + normal(l.of.Envelope.Ask) + " "
		l.set = map[string]bool{}
		for w := range strings.FieldsSeq(l.text) {
			l.set[w] = true
		}
	}
	if !strings.Contains(word, " ") {
		return l.set[word]
	}
	first, _, _ := strings.Cut(word, " ")
	return l.set[first] && strings.Contains(l.text, " "+word+" ")
}

func wordsOf(keywords []string) []string {
	list := make([]string, len(keywords))
	for i, k := range keywords {
		list[i] = normal(k)
	}
	return list
}

// normal is a text's words in lower case, with one space between them. Letters, digits and marks make words, as do the
// signs + and # within or at the end of one, so that C++ and C# are words.
func normal(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	gap := false
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && (r != '+' && r != '#' || gap || b.Len() == 0) {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		gap = false
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
