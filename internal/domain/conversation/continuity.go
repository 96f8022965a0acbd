package conversation

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Hop is one handoff in the course of a conversation.
type Hop struct {
	From, To  string // agents by name
	Reason    string // optional
	Delegated bool   // To was given a part of the task of From
}

// minTurn is the fewest bytes of text of a shortened turn; a shorter one is omitted.
const minTurn = 60

// Continuity is a text that lets the next agent carry on: the id of the conversation, which agents spoke before and how often, the last changes
// of hands, the first request, and as many of the last turns as fit, the newest first to be kept. speakers are those of
// the whole conversation. turns are oldest first and may lack the middle, never the first request. The text has at most
// budget bytes, and is empty where the budget is too small for a single line of it. Turns are shown indented, so that what one of them says cannot be
// taken for another turn; it is still text from outside, to be rendered as data.
func Continuity(id string, speakers []Speaker, turns []Turn, handoffs []Hop, budget int) string {
	if len(speakers) == 0 && len(handoffs) == 0 {
		return ""
	}
	b := budgeted{left: budget}
	if !b.line(previous(id, speakers, handoffs, budget)) {
		return ""
	}
	b.handoffs(handoffs)
	request := firstRequest(turns)
	if request >= 0 {
		b.line(within("First request, from "+speaker(turns[request])+":", turns[request].Text, b.left/2))
	}
	b.latest(turns, request)
	return b.String()
}

// budgeted is a text that may not grow beyond what is left.
type budgeted struct {
	strings.Builder
	left int
}

// line adds a line if it is not empty and fits.
func (b *budgeted) line(s string) bool {
	if s == "" || len(s)+1 > b.left {
		return false
	}
	b.WriteString(s + "\n")
	b.left -= len(s) + 1
	return true
}

// condensed is what a text by [Continuity] begins with.
const condensed = "Conversation so far: "

// Condensed reports whether a summary was made by [Continuity], and not by a sender.
func Condensed(summary string) bool { return strings.HasPrefix(summary, condensed) }

// previous names everybody who had a part, as far as a third of the budget reaches, or at least the last ones.
func previous(id string, speakers []Speaker, handoffs []Hop, budget int) string {
	count, names, turns := map[string]int{}, []string{}, 0
	add := func(name string, n int) {
		if name == "" {
			return
		}
		if _, known := count[name]; !known {
			names = append(names, name)
		}
		count[name] += n
	}
	for _, s := range speakers {
		add(s.Agent, s.Turns)
		turns += s.Turns
	}
	for _, h := range handoffs {
		add(h.From, 0)
		add(h.To, 0)
	}
	shown := make([]string, len(names))
	for i, n := range names {
		shown[i] = fmt.Sprintf("%s (%d)", flat(n), count[n])
	}
	number := "1 turn"
	if turns != 1 {
		number = fmt.Sprintf("%d turns", turns)
	}
	head := fmt.Sprintf("%s%s in %s. Previous agents (turns): ", condensed, number, id)
	all := head + strings.Join(shown, ", ")
	for cut := 1; len(all) > max(budget/3, 2*len(head)) && cut < len(shown); cut++ {
		all = fmt.Sprintf("%s%d earlier ones, %s", head, cut, strings.Join(shown[cut:], ", "))
	}
	return all
}

// handoffs adds the last changes of hands, oldest first, as far as a quarter of what is left reaches.
func (b *budgeted) handoffs(hops []Hop) {
	limit, from := b.left/4, len(hops)
	var lines []string
	for from > 0 {
		h := hops[from-1]
		did := "Handed over: "
		if h.Delegated {
			did = "Delegated: "
		}
		s := did + flat(h.From) + " -> " + flat(h.To)
		if h.Reason != "" {
			s += " (" + clip(flat(h.Reason), 120) + ")"
		}
		if len(s)+1 > limit {
			break
		}
		limit -= len(s) + 1
		lines = append(lines, s)
		from--
	}
	slices.Reverse(lines)
	for _, s := range lines {
		b.line(s)
	}
}

func firstRequest(turns []Turn) int {
	if i := slices.IndexFunc(turns, func(t Turn) bool { return t.Role == User }); i >= 0 {
		return i
	}
	return min(len(turns), 1) - 1
}

// latest adds the last turns, oldest first; the newest is shortened rather than left out.
func (b *budgeted) latest(turns []Turn, request int) {
	const head = "Last turns, oldest first:"
	limit := b.left - len(head) - 1
	var parts []string
	for i := len(turns) - 1; i >= 0; i-- {
		if i == request {
			continue
		}
		label := "- " + speaker(turns[i]) + ":"
		part := label + "\n" + indent(turns[i].Text)
		if len(part)+1 > limit && i == len(turns)-1 {
			part = within(label, turns[i].Text, limit-1)
		}
		if part == "" || len(part)+1 > limit {
			break
		}
		parts = append(parts, part)
		limit -= len(part) + 1
	}
	if len(parts) == 0 || !b.line(head) {
		return
	}
	slices.Reverse(parts)
	for _, p := range parts {
		b.line(p)
	}
}

func speaker(t Turn) string {
	if t.Role == Assistant {
		return flat(t.Agent)
	}
	return string(t.Role) + " to " + flat(t.Agent)
}

// within is a label and an indented text, shortened to at most limit bytes together; "" if too little would be left.
func within(label, text string, limit int) string {
	full := label + "\n" + indent(text)
	if len(full) <= limit {
		return full
	}
	if limit < len(label)+minTurn {
		return ""
	}
	return clip(full, limit)
}

// clip shortens text to n bytes with a mark that it was.
func clip(s string, n int) string {
	const mark = " […]"
	if len(s) <= n {
		return s
	}
	return strings.TrimRight(refusal.Clip(s, n-len(mark)), " \n") + mark
}

// lineEnds are all the characters that some program takes for the end of a line.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// indent keeps every line of a text away from the margin, where the lines of this package begin.
func indent(s string) string {
	s = strings.Trim(lineEnds.Replace(valid(s)), "\n")
	return "  " + strings.ReplaceAll(s, "\n", "\n  ")
}

// flat is a text in one line.
func flat(s string) string { return strings.Join(strings.Fields(lineEnds.Replace(valid(s))), " ") }

func valid(s string) string { return strings.ToValidUTF8(s, string(utf8.RuneError)) }
