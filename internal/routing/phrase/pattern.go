package phrase

import (
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// A pattern is a sequence of words. {a|b c} is a choice, [a] is optional, and AGENT, TASK and CAP are slots. <name> is a
// pattern of the table macros.
type pattern []node

// node is one element of a pattern: a word or slot, or a choice of patterns.
type node struct {
	literal string // a word, or a slot in capitals
	choice  []pattern
	maybe   bool // the choice is optional
}

// compile compiles a pattern. It panics on a malformed one; tests compile them all.
func compile(text string) pattern {
	for range 8 { // deeper than macros are nested
		for name, of := range macros {
			text = strings.ReplaceAll(text, "<"+name+">", of)
		}
	}
	for _, bracket := range []string{"{", "}", "[", "]", "|"} {
		text = strings.ReplaceAll(text, bracket, " "+bracket+" ")
	}
	p, rest := sequence(strings.Fields(text))
	if len(rest) > 0 {
		panic(fmt.Sprintf("phrase: %q is left over of the pattern %q", rest, text))
	}
	return p
}

func sequence(in []string) (pattern, []string) {
	var p pattern
	for len(in) > 0 {
		switch in[0] {
		case "|", "}", "]":
			return p, in
		case "{", "[":
			n := node{maybe: in[0] == "["}
			n.choice, in = choices(in[1:])
			p = append(p, n)
		default:
			p, in = append(p, node{literal: in[0]}), in[1:]
		}
	}
	return p, nil
}

func choices(in []string) ([]pattern, []string) {
	var list []pattern
	for {
		p, rest := sequence(in)
		list = append(list, p)
		if len(rest) == 0 {
			panic("phrase: a bracket is not closed")
		}
		in = rest[1:]
		if rest[0] != "|" {
			return list, in
		}
	}
}

// match is one way in which words match a pattern.
type match struct {
	said      Instruction
	end       int  // number of words that it matches
	statement bool // see rule
}

// matcher finds every way in which a pattern matches the beginning of words.
type matcher struct {
	words []word
}

// row matches the nodes of a pattern, then calls next.
func (m *matcher) row(p pattern, at int, s Instruction, next func(int, Instruction)) {
	if len(p) == 0 {
		next(at, s)
		return
	}
	n := p[0]
	rest := func(at int, s Instruction) { m.row(p[1:], at, s, next) }
	if n.choice == nil {
		if at < len(m.words) && n.takes(m.words[at], &s) {
			rest(at+1, s)
		}
		return
	}
	for _, c := range n.choice {
		m.row(c, at, s, rest)
	}
	if n.maybe {
		rest(at, s)
	}
}

// takes reports whether a word is what the node expects, and fills its slot. A slot that is filled takes the same again.
func (n node) takes(w word, s *Instruction) bool {
	switch n.literal {
	case "AGENT":
		return !w.isTask() && fill(&s.Agent, w)
	case "CAP":
		return !w.isTask() && fill(&s.Capability, w)
	case "TASK":
		return w.isTask() && fill(&s.Task, w)
	}
	return w.is(n.literal)
}

// isTask reports whether a word means a task: one that looks like an id, or a whole id in quotes.
func (w word) isTask() bool {
	return strings.HasPrefix(w.text, "task_") && (!w.quoted || event.CheckTaskID(w.text) == nil)
}

func fill(slot *string, w word) bool {
	text := w.text
	if w.mark || !w.quoted && reserved()[text] {
		return false
	}
	if !w.quoted {
		text = strings.TrimPrefix(text, "@")
	}
	if text == "" || *slot != "" && *slot != text {
		return false
	}
	*slot = text
	return true
}
