package prompt

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/domain/event/idform"
	"github.com/trapezehq/trapeze/internal/domain/visible"
)

// Builder builds a prompt. Only its methods write outside of fences. The zero value is an empty prompt.
type Builder struct{ strings.Builder }

// Line writes one line outside of fences.
func (p *Builder) Line(format string, args ...any) {
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

// Section writes a heading and a fenced block; nothing if there is no text.
func (p *Builder) Section(title, text string) {
	if text != "" {
		p.Block(title, "", "", func() { p.WriteString(strings.TrimSuffix(visible.Text(text), "\n")) })
	}
}

// Block writes one fenced block around the output of body, which must have gone through [visible.Text].
func (p *Builder) Block(title, intro, language string, body func()) {
	p.WriteString("## ")
	p.WriteString(title)
	p.WriteByte('\n')
	if intro != "" {
		p.Line("%s", intro)
	}
	before := p.Len()
	p.WriteString(visible.Fence)
	p.WriteString(language)
	p.WriteByte('\n')
	start := p.Len()
	body()
	written := p.String()
	around := visible.Around(visible.LongestRun(written[start:]))
	if around != visible.Fence {
		p.Reset()
		p.Grow(len(written) + 2*len(around))
		for _, s := range [...]string{written[:before], around, language, "\n", written[start:]} {
			p.WriteString(s)
		}
	}
	p.WriteByte('\n')
	p.WriteString(around)
	p.WriteByte('\n')
}

// Entry is one entry of a list: a label, which may be empty, then a text. With By, it is the line that names the author of those that
// follow. Replaced is the line after the text that says what the entry replaced, and by whom that was.
type Entry struct{ Label, Text, By, Replaced string }

// bare reports whether the entry can stand at the beginning of a line without a dash: then nothing else looks like it, and
// its tokens are its own.
func (e *Entry) bare() bool {
	r, _ := utf8.DecodeRuneInString(e.Label)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// Entries writes a list in a block of its own.
func (p *Builder) Entries(title, intro string, entries []Entry) {
	if len(entries) > 0 {
		p.Block(title, intro, "", func() { p.Rows(entries) })
	}
}

// Rows writes the entries of a list, with the further lines of each entry indented.
func (p *Builder) Rows(entries []Entry) {
	for i, e := range entries {
		if i > 0 {
			p.WriteByte('\n')
		}
		if e.By != "" { // no other line of a list begins so
			p.WriteString("(by " + Named(e.By) + ":)")
			continue
		}
		if !e.bare() {
			p.WriteString("- ")
		}
		p.indented(e.Label)
		p.indented(e.Text)
		if e.Replaced != "" { // the further lines of a text are indented
			p.WriteString("\n(" + e.Replaced + ")")
		}
	}
}

// further indents the lines of a text after its first by a space, and those that Markdown would take for headings by four, so that
// they cannot pose as headings of the lists.
var further = strings.NewReplacer("\n#", "\n    #", "\n #", "\n     #", "\n  #", "\n      #", "\n", "\n ")

func (p *Builder) indented(text string) {
	p.WriteString(further.Replace(visible.Text(text)))
}

// Named is a name in a label: in quotation marks if it could be taken for more than a name.
func Named(name string) string {
	word := visible.Word(name)
	if !strings.HasSuffix(word, ":") && !strings.ContainsAny(word, " ,()[]\"") {
		return word
	}
	return `"` + strings.ReplaceAll(word, `"`, "'") + `"`
}

// Point is the id of a fact or decision as prompts have it: in quotation marks if lines of prompts begin with it, or if the record has it from before ids had a form.
func Point(id string) string {
	if id == "" || idform.IsPoint(id) {
		return id
	}
	return `"` + strings.ReplaceAll(visible.Word(id), `"`, "'") + `"`
}

// Titled is a title in a label: in quotation marks if it could be taken for the label's end, or for an author.
func Titled(title string) string {
	word := visible.Word(title)
	if !strings.ContainsAny(word, ":()[]\"/") {
		return word
	}
	return `"` + strings.ReplaceAll(word, `"`, "'") + `"`
}
