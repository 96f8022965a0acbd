package visible

import "strings"

// Fence is the fence of most blocks. One around a text that has such a run is longer.
const Fence = "```"

// Around returns the fence of a block whose text, which [Text] returned, has at most backquotes in one run.
func Around(run int) string {
	if run < len(Fence) {
		return Fence
	}
	return strings.Repeat("`", run+1)
}

// Fenced returns text in a fenced block that it cannot end, without a line feed after it. Language follows the opening fence; it
// may be empty.
func Fenced(text, language string) string {
	text = strings.TrimRight(Text(text), "\n")
	around := Around(LongestRun(text))
	return around + language + "\n" + text + "\n" + around
}

// Word returns text on one line, with line feeds shown by their number.
func Word(text string) string {
	return strings.ReplaceAll(Text(text), "\n", "⟨U+000A⟩")
}

// Line returns text on one line, with each run of white space as one space.
func Line(text string) string { return strings.Join(strings.Fields(Text(text)), " ") }

// Code returns a code span that text, which is shown as [Word] does, cannot end; empty if text is empty.
func Code(text string) string { return span(Word(text)) }

// CodeLine is [Code] of a text of several lines or with runs of white space, as [Line] shows it.
func CodeLine(text string) string { return span(Line(text)) }

func span(text string) string {
	if text == "" {
		return ""
	}
	run := LongestRun(text)
	if run == 0 {
		return "`" + text + "`"
	}
	fence := strings.Repeat("`", run+1)
	return fence + " " + text + " " + fence
}
