package help

import (
	"net/url"
	"slices"
	"strings"
)

// Help is one thing that helps.
type Help struct {
	Words  string            `json:"words,omitempty"`  // those of the hint that speak of it; empty: the hint does not speak of it
	Call   Call              `json:"call,omitempty"`   // what to call; empty: the same call again
	ID     string            `json:"id,omitempty"`     // what it takes, if the refusal knows it
	Fields map[string]string `json:"fields,omitempty"` // those of the call that matter, each with its value, or empty
}

// OrOperator names a principal, and an operator beside it.
func OrOperator(who string) string {
	if strings.HasPrefix(who, "operator/") {
		return who + " or another operator"
	}
	return who + " or an operator"
}

// To returns a link for a hint: words that stand in the hint, and the call that they speak of, with its id, which may be empty, and fields, each
// as name or name=value. Parse finds it there.
func To(words string, call Call, id string, fields ...string) string {
	text := string(call)
	if id != "" {
		text += " " + escape(id)
	}
	for _, f := range fields {
		name, value, is := strings.Cut(f, "=")
		text += " ." + name
		if is {
			text += "=" + escape(value)
		}
	}
	return "[" + words + "](" + strings.TrimPrefix(text, " ") + ")"
}

// escape returns a value as one word of a link.
func escape(value string) string { return strings.ReplaceAll(url.PathEscape(value), ".", "%2E") }

// Parse returns a hint as text, and what helps by its links, in their order. A link is [words](call), with several calls as (call, call), the id after
// the call, and fields as .name or .name=value; without words, it helps though the hint does not speak of it. A call that takes the id of a task, of a
// part of one, or of a memory item, and has none, gets the first of its kind in about.
func Parse(hint string, about ...any) (text string, helps []Help) {
	for {
		middle := strings.Index(hint, "](")
		if middle < 0 {
			return text + hint, helps
		}
		begin, end := strings.LastIndexByte(hint[:middle], '['), strings.IndexByte(hint[middle:], ')')
		var found []Help
		if begin >= 0 && end >= 0 {
			found = parseCalls(hint[begin+1:middle], hint[middle+2:middle+end], about)
		}
		if found == nil {
			text, hint = text+hint[:middle+2], hint[middle+2:]
			continue
		}
		helps = append(helps, found...)
		text, hint = text+hint[:begin]+hint[begin+1:middle], hint[middle+end+1:]
	}
}

// parseCalls returns the calls of a link; nil if one of them is none.
func parseCalls(spoken, of string, about []any) (list []Help) {
	for text := range strings.SplitSeq(of, ", ") {
		h, ok := parseCall(text)
		if !ok {
			return nil
		}
		h.Words = spoken
		if h.ID == "" {
			h.ID = calls[h.Call].takes.of(about)
		}
		list = append(list, h)
	}
	return list
}

func parseCall(text string) (h Help, ok bool) {
	rest := strings.Fields(text)
	for n := min(2, len(rest)); n > 0 && h.Call == ""; n-- {
		if c := Call(strings.Join(rest[:n], " ")); c.Valid() {
			h.Call, rest = c, rest[n:]
		}
	}
	for i, word := range rest {
		name, value, _ := strings.Cut(word, "=")
		field, isField := strings.CutPrefix(name, ".")
		if !isField {
			value = word
		}
		value, err := url.PathUnescape(value)
		switch {
		case err != nil || !isField && (i > 0 || h.Call == ""):
			return h, false
		case !isField:
			h.ID = value
			continue
		case h.Fields == nil:
			h.Fields = map[string]string{}
		}
		h.Fields[field] = value
	}
	return h, h.Call != "" || h.Fields != nil
}

// Explain returns a hint in which how, an API's own words for a call, follows the words that speak of it, in parentheses. A call that how has no words
// for, or that stands in the hint already, is left out; of several, the first shows the id, and the others where it stands. What helps though the hint does not speak of it follows at the end.
func Explain(hint string, helps []Help, how func(Help) string) string {
	var b strings.Builder
	rest := hint
	for len(helps) > 0 {
		n := 1
		for n < len(helps) && helps[n].Words == helps[0].Words {
			n++
		}
		own := strings.Join(said(hint, helps[:n], how), ", ")
		at := strings.Index(rest, helps[0].Words)
		switch {
		case own == "":
		case helps[0].Words == "" || at < 0:
			rest += "; or: " + own
		default:
			at += len(helps[0].Words)
			b.WriteString(rest[:at] + " (" + own + ")")
			rest = rest[at:]
		}
		helps = helps[n:]
	}
	return b.String() + rest
}

// said returns the words of an API for calls, each once.
func said(hint string, helps []Help, how func(Help) string) (list []string) {
	for i, h := range helps {
		if len(helps) > 2 && i > 0 {
			h.ID = ""
		}
		if w := how(h); w != "" && !strings.Contains(hint, w) && !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return list
}
