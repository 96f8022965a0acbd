package phrase

import (
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Why says why a sentence is no instruction. The set is closed.
type Why string

// Why a sentence is not acted on.
const (
	Empty         Why = "empty"
	Negated       Why = "negated"     // it says not to, or takes it back
	Conditional   Why = "conditional" // it says when, or perhaps
	Question      Why = "question"    // it asks whether
	Several       Why = "several"     // it says more than one thing
	Incomplete    Why = "incomplete"  // a name is missing
	Leftover      Why = "leftover"    // part of it is understood
	Ambiguous     Why = "ambiguous"   // it can be read in more than one way
	NotUnderstood Why = "not_understood"
)

func doubt(why Why, hint, format string, args ...any) *refusal.Error {
	return refusal.New(refusal.Invalid, hint, format, args...).With("why", why).With("say", Examples())
}

// explain says why no rule fits the whole sentence, what matters most first.
func (s *sentence) explain() error {
	const plain = "nothing was done; say plainly what to do"
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
		return doubt(Conditional, plain+" now", "it says %q, and only what is to be done now can be done", cond.text)
	case s.asks && !s.request:
		return s.question(beginning(s.command).said)
	}
	for _, i := range incomplete {
		ends := false
		m := matcher{words: s.command}
		m.row(compile(i.pattern), 0, Said{}, func(end int, _ Said) { ends = ends || end == len(s.command) })
		if ends {
			return doubt(Incomplete, "say for example: "+i.example, "it does not say %s", i.missing)
		}
	}
	if oneOf(s.command[0], questions) || s.command[0].is("should") {
		return s.question(beginning(s.command).said)
	}
	if parts := s.parts(); len(parts) > 1 {
		return doubt(Several, "say one thing at a time", "it says %d things: %s", len(parts), strings.Join(parts, "; and: ")).With("readings", parts)
	}
	return s.leftover()
}

// question answers one that is no request.
func (s *sentence) question(about Said) error {
	hint := "nothing was done; say it as an instruction"
	if about.Intent != "" {
		hint += ", for example: " + about.Canonical()
	}
	return doubt(Question, hint, "it is a question, not an instruction")
}

// parts are the instructions that the pieces of a sentence are, each by itself.
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

// leftover says how far the sentence was understood.
func (s *sentence) leftover() error {
	const hint = "say the rest in other words, or leave it out; a reason goes after \"because\", a name that is an ordinary word into quotes"
	best := beginning(s.command)
	if best.end == 0 || best.end == len(s.command) {
		return doubt(NotUnderstood, "say one of: "+strings.Join(Examples(), "; "), "%q is not understood", clipped(s.text))
	}
	rest := s.text[s.command[best.end].start:s.command[len(s.command)-1].end]
	return doubt(Leftover, hint, "%q is understood, but not %q", best.said.Canonical(), clipped(rest)).With("understood", best.said.Canonical())
}

// clipped shortens what is quoted in a message.
func clipped(text string) string {
	text = strings.TrimSpace(text)
	if short := refusal.Clip(text, 120); short != text {
		return short + "…"
	}
	return text
}
