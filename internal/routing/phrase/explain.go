package phrase

import (
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Why is the reason why a sentence is not an instruction. The set is closed.
type Why string

// The reasons.
const (
	Empty         Why = "empty"
	Negated       Why = "negated"     // it forbids the action, or retracts it
	Conditional   Why = "conditional" // it depends on a condition, or is uncertain
	Question      Why = "question"    // it is a question
	Several       Why = "several"     // it contains several instructions
	Incomplete    Why = "incomplete"  // a name is missing
	Leftover      Why = "leftover"    // only part of it is understood
	Ambiguous     Why = "ambiguous"   // it has several readings
	NotUnderstood Why = "not_understood"
)

func doubt(why Why, hint, format string, args ...any) *refusal.Error {
	return refusal.New(refusal.Invalid, hint, format, args...).With("why", why).With("say", Examples()).With("field", "text")
}

// explain returns the refusal of a sentence that no rule matches as a whole, with the most important reason.
func (s *sentence) explain() error {
	const plain = "nothing was done; say directly what to do"
	var no, cond *word
	for i := range s.command {
		w := &s.command[i]
		if no == nil && oneOf(*w, negations) {
			no = w
		}
		if cond == nil && oneOf(*w, conditions) {
			cond = w
		}
	}
	switch {
	case no != nil:
		return doubt(Negated, plain, "it says %q", no.text)
	case cond != nil && !s.command[0].is("should"):
		return doubt(Conditional, plain+" now", "it says %q, and an instruction takes effect now", cond.text)
	case s.asks && !s.request:
		return s.question(beginning(s.command).said)
	}
	for _, i := range incomplete {
		ends := false
		m := matcher{words: s.command}
		m.row(compile(i.pattern), 0, Instruction{}, func(end int, _ Instruction) { ends = ends || end == len(s.command) })
		if ends {
			return doubt(Incomplete, "say for example: "+i.example, "it does not say %s", i.missing)
		}
	}
	if s.startsQuestion() {
		return s.question(beginning(s.command).said)
	}
	if parts := s.parts(); len(parts) > 1 {
		return doubt(Several, "give one instruction at a time", "it contains %d instructions: %s", len(parts), strings.Join(parts, "; and: ")).With("readings", parts)
	}
	return s.leftover()
}

// startsQuestion reports whether the first words are those of a question. "Do" also begins an instruction: "do my homework".
func (s *sentence) startsQuestion() bool {
	first := s.command[0]
	if first.is("do") && !s.asks {
		return len(s.command) > 1 && oneOf(s.command[1], pronouns)
	}
	return oneOf(first, questions) || first.is("should")
}

// question returns the refusal of a question that is not a request.
func (s *sentence) question(about Instruction) error {
	hint := "nothing was done; write it as an instruction"
	if about.Intent != "" {
		hint += ", for example: " + about.Canonical()
	}
	return doubt(Question, hint, "it is a question, not an instruction")
}

// parts returns the canonical instructions of the clauses of a sentence.
func (s *sentence) parts() []string {
	var list []string
	rest := s.clauses
	for len(rest) > 0 {
		end := slices.IndexFunc(rest, func(w word) bool {
			return w.mark || oneOf(w, []string{"and", "then", "but", "or"})
		})
		if end < 0 {
			end = len(rest)
		}
		piece := (&sentence{}).opening(rest[:end])
		if m := beginning(piece); m.end > 0 {
			list = append(list, m.said.Canonical())
		}
		rest = rest[min(end+1, len(rest)):]
	}
	return list
}

// leftover returns the refusal of a sentence that is understood in part, or not at all.
func (s *sentence) leftover() error {
	const hint = "write the rest in other words, or omit it; a reason goes after \"because\", a name that is an ordinary word into quotes"
	best := beginning(s.command)
	if best.end == 0 || best.end == len(s.command) {
		return doubt(NotUnderstood, "say one of: "+strings.Join(Examples(), "; "), "%q is not understood", clipped(s.text))
	}
	rest := s.text[s.command[best.end].start:s.command[len(s.command)-1].end]
	return doubt(Leftover, hint, "%q is understood, but not %q", best.said.Canonical(), clipped(rest)).With("understood", best.said.Canonical())
}

// clipped shortens a quotation in a message.
func clipped(text string) string {
	text = strings.TrimSpace(text)
	if short := refusal.Clip(text, 120); short != text {
		return short + "…"
	}
	return text
}
