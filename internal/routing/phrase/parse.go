package phrase

import (
	"slices"
	"strings"
	"unicode"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Parse parses a sentence. A sentence that is not understood as one whole instruction is refused (invalid, too_large); the
// detail "why" of the refusal is a [Why], and "say" lists examples.
func Parse(text string) (Instruction, error) {
	if err := checkText(text); err != nil {
		return Instruction{}, err
	}
	words, err := wordsOf(text)
	if err != nil {
		return Instruction{}, err
	}
	s := newSentence(text, words)
	if len(s.command) > maxWords {
		return Instruction{}, refusal.New(refusal.TooLarge, "say what to do in a few words, and why after \"because\"",
			"an instruction of %d words is too long, at most %d are allowed", len(s.command), maxWords)
	}
	if len(s.command) == 0 {
		return Instruction{}, doubt(Empty, "say what to do", "the sentence is empty")
	}
	all := readings(s.command)
	switch len(all) {
	case 0:
		return Instruction{}, s.explain()
	case 1:
	default:
		var list []string
		for _, r := range all {
			list = append(list, r.said.Canonical())
		}
		return Instruction{}, doubt(Ambiguous, "say which: "+strings.Join(list, "; or: "), "this can be read in %d ways", len(list)).With("readings", list)
	}
	said := all[0].said
	if s.asks && !s.request && !said.Intent.Reads() {
		return Instruction{}, s.question(said)
	}
	if said.Detail, err = s.detail(said); err != nil {
		return Instruction{}, err
	}
	return said, said.check()
}

func checkText(text string) error {
	if err := event.CheckText("the sentence", text, MaxText); err != nil {
		return refusal.In("text", err)
	}
	for i, r := range text {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return refusal.New(refusal.Invalid, "remove it", "there is a control character at byte %d", i+1).With("field", "text")
		}
	}
	return nil
}

// sentence is a text in its parts.
type sentence struct {
	text    string
	command []word // the instruction, without courtesies and commas
	clauses []word // the instruction with them
	reason  []word
	because bool // a word such as "because" announces a reason
	asks    bool // ends with a question mark
	request bool // asks to do it, as "could you"
}

func newSentence(text string, words []word) *sentence {
	s := &sentence{text: text}
	if n := len(words); n > 0 {
		s.asks = words[n-1].mark && words[n-1].text == "?"
	}
	words = s.opening(words)
	at, after := reasonAt(words)
	if after > 0 {
		s.because, s.reason, words = true, words[after:], words[:at]
	}
	s.clauses = words
	words = slices.DeleteFunc(slices.Clone(words), func(w word) bool { return w.is(",") || oneOf(w, fillers) })
	s.command = s.closing(s.opening(words))
	return s
}

// opening removes courtesies and marks at the beginning.
func (s *sentence) opening(words []word) []word {
	for {
		n, asked := longest(words, requests, false), true
		if n == 0 {
			n, asked = longest(words, courtesies, false), false
		}
		if n == 0 && len(words) > 0 && (words[0].mark || oneOf(words[0], fillers)) {
			n, asked = 1, words[0].is("please")
		}
		if n == 0 {
			return words
		}
		s.request = s.request || asked
		words = words[n:]
	}
}

// closing removes courtesies and marks at the end.
func (s *sentence) closing(words []word) []word {
	for {
		n, asked := longest(words, requests, true), true
		if n == 0 {
			n, asked = longest(words, farewells, true), false
		}
		if n == 0 && len(words) > 0 && words[len(words)-1].mark {
			n = 1
		}
		if n == 0 {
			return words
		}
		s.request = s.request || asked
		words = words[:len(words)-n]
	}
}

// longest returns the number of words of the longest phrase with which the words begin, or end.
func longest(words []word, phrases []string, atEnd bool) int {
	best := 0
	for _, p := range phrases {
		part := strings.Fields(p)
		n := len(part)
		if n <= best || n > len(words) {
			continue
		}
		from := words[:n]
		if atEnd {
			from = words[len(words)-n:]
		}
		if slices.EqualFunc(from, part, word.is) {
			best = n
		}
	}
	return best
}

// reasonAt returns the index of the words that announce the reason, and that of the reason; zeros without one.
func reasonAt(words []word) (at, after int) {
	for i := 1; i < len(words); i++ {
		switch {
		case words[i].is("because"):
			return i, i + 1 + longest(words[i+1:], []string{"of", ":"}, false)
		case words[i].is("since"), words[i].is(":"):
			return i, i + 1
		case words[i].is("reason"):
			at, after = i, i+1
			for at > 1 && oneOf(words[at-1], []string{"the", "with", "for", "and", "my", ","}) {
				at--
			}
			for after < len(words) && oneOf(words[after], []string{"is", "being", "that", ":"}) {
				after++
			}
			return at, after
		}
		if n := longest(words[i:], []string{"due to", "owing to", "on account of"}, false); n > 0 {
			return i, i + n
		}
	}
	return 0, 0
}

// readings returns the different meanings of all the words together.
func readings(words []word) []match {
	var all []match
	for _, r := range rules() {
		m := matcher{words: words}
		m.row(r.pattern, 0, Instruction{Intent: r.intent}, func(end int, s Instruction) {
			if end == len(words) && !slices.ContainsFunc(all, func(o match) bool { return o.said == s }) {
				all = append(all, match{s, end, r.statement})
			}
		})
	}
	return all
}

// beginning returns the longest beginning of the words that has a meaning.
func beginning(words []word) (best match) {
	for _, r := range rules() {
		m := matcher{words: words}
		m.row(r.pattern, 0, Instruction{Intent: r.intent}, func(end int, s Instruction) {
			if end > best.end {
				best = match{s, end, r.statement}
			}
		})
	}
	return best
}

// detail returns the reason, word for word or from quotes. An unquoted reason must not contain another instruction.
func (s *sentence) detail(said Instruction) (string, error) {
	if !s.because {
		return "", nil
	}
	if said.Intent.Reads() {
		return "", doubt(Leftover, "omit the reason", "reading needs no reason")
	}
	if len(s.reason) > 0 && s.reason[0].quoted && !slices.ContainsFunc(s.reason[1:], func(w word) bool { return !w.mark }) {
		if text := strings.TrimSpace(s.reason[0].text); text != "" {
			return text, nil
		}
	}
	text := ""
	if len(s.reason) > 0 {
		text = strings.TrimSpace(s.text[s.reason[0].start:])
	}
	if strings.Trim(text, marks+`"' `) == "" {
		return "", doubt(Incomplete, "give the reason, or omit \"because\"", "there is no reason after \"because\"")
	}
	return text, s.oneThing()
}

// oneThing refuses a reason that contains another instruction or retracts the instruction.
func (s *sentence) oneThing() error {
	for i, w := range s.reason {
		if !w.mark && !oneOf(w, []string{"and", "then", "but"}) {
			continue
		}
		clause := (&sentence{}).opening(slices.DeleteFunc(slices.Clone(s.reason[i+1:]), func(w word) bool { return oneOf(w, fillers) }))
		for len(clause) > 0 && oneOf(clause[0], []string{"and", "then", "but"}) {
			clause = (&sentence{}).opening(clause[1:])
		}
		if longest(clause, takebacks, false) > 0 || len(clause) == 1 && clause[0].is("no") {
			return doubt(Negated, "omit that, or put the reason into quotes", "the reason retracts the instruction: %q", clipped(s.text[clause[0].start:]))
		}
		end := slices.IndexFunc(clause, func(w word) bool { return w.mark })
		if end < 0 {
			end = len(clause)
		}
		if found := beginning(clause[:min(end, maxWords)]); found.end > 0 && !found.statement && (!found.said.Intent.Reads() || found.end == end) {
			return doubt(Several, "give one instruction at a time, or put the reason into quotes",
				"the reason contains another instruction: %q", clipped(s.text[clause[0].start:]))
		}
	}
	return nil
}
