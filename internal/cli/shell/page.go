package shell

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/cli/screen"
	"github.com/trapezehq/trapeze/internal/domain/visible"
)

// Emit prints the answer of a command: v as one JSON document with --json, the IDs with --quiet, or what text writes.
func (s *Shell) Emit(v any, text func(*Page)) error {
	if s.Flags.JSON {
		return s.EmitJSON(v, "  ")
	}
	if s.Flags.Quiet {
		if done, err := s.quiet(v); done {
			return err
		}
	}
	p := &Page{colour: s.colours(), of: s}
	text(p)
	_, err := screen.Past(s.Stdout).Write(p.b.Bytes())
	return err
}

// EmitJSON prints v as JSON: on one line, or indented. Hidden characters have the escapes of JSON, so that a terminal shows them
// and a program reads what there was.
func (s *Shell) EmitJSON(v any, indent string) error {
	b, err := safeJSON(v, indent)
	if err == nil {
		_, err = s.Stdout.Write(b)
	}
	return err
}

func safeJSON(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	text := b.String()
	if indent != "" {
		text = Indented([]byte(text))
	} else {
		text = visible.JSON(strings.TrimSpace(text))
	}
	return []byte(text + "\n"), nil
}

// Indented is a JSON document on several lines, with its hidden characters escaped; one that is not JSON is shown as text.
func Indented(doc []byte) string {
	var compact, b bytes.Buffer
	if json.Compact(&compact, doc) != nil || json.Indent(&b, []byte(visible.JSON(compact.String())), "", "  ") != nil {
		return visible.Document(string(doc))
	}
	return b.String()
}

// Answer prints the answer of a call as [Shell.Emit] does, or returns the error of the call.
func (s *Shell) Answer(v any, err error, text func(*Page)) error {
	if err != nil {
		return err
	}
	return s.Emit(v, text)
}

// Show prints text for people before the answer, such as what a prompt asks to confirm.
func (s *Shell) Show(text func(*Page)) {
	p := &Page{colour: s.colours(), of: s}
	text(p)
	_, _ = screen.Past(s.Stdout).Write(p.b.Bytes()) // the reader may be gone
}

// colours reports whether the output is coloured: it is a terminal, and its user did not switch colours off (no-color.org).
func (s *Shell) colours() bool {
	if s.Getenv("NO_COLOR") != "" || s.Getenv("TERM") == "dumb" {
		return false
	}
	return s.Terminal
}

// EmitText prints text of others for scripts as it is; a terminal shows it safely.
func (s *Shell) EmitText(text string) error {
	_, err := io.WriteString(s.Stdout, text)
	return err
}

// Page is text for people: aligned, and with control characters in the text of others escaped.
type Page struct {
	b      bytes.Buffer
	colour bool
	of     *Shell // whose command prints it
}

// Painted is text that has been made safe to print, with its colour.
type Painted string

// Line prints one line. Arguments that are text go through [OneLine], unless they are [Painted].
func (p *Page) Line(format string, args ...any) {
	for i, arg := range args {
		switch v := arg.(type) {
		case Painted:
		case error, fmt.Stringer:
			args[i] = OneLine(fmt.Sprint(v))
		default:
			if text := reflect.ValueOf(arg); text.Kind() == reflect.String {
				args[i] = OneLine(text.String())
			}
		}
	}
	fmt.Fprintf(&p.b, format+"\n", args...)
}

// Field is a label and its value.
type Field [2]string

// Fields prints the fields that have a value, aligned.
func (p *Page) Fields(list []Field) {
	width := 0
	for _, f := range list {
		if f[1] != "" {
			width = max(width, utf8.RuneCountInString(f[0]))
		}
	}
	for _, f := range list {
		if f[1] != "" {
			p.Line("%s%s  %s", p.Dim(f[0]), strings.Repeat(" ", width-utf8.RuneCountInString(f[0])), p.state(OneLine(f[1])))
		}
	}
}

// Table prints rows under a heading, or none if there are no rows.
func (p *Page) Table(none string, heading []string, rows [][]string) {
	if len(rows) == 0 {
		p.Next("%s", none)
		return
	}
	widths := make([]int, len(heading))
	for i, h := range heading {
		widths[i] = utf8.RuneCountInString(h)
	}
	for r, row := range rows {
		for i, cell := range row {
			rows[r][i] = OneLine(cell)
			widths[i] = max(widths[i], utf8.RuneCountInString(rows[r][i]))
		}
	}
	p.row(heading, widths, p.Dim)
	for _, row := range rows {
		p.row(row, widths, p.state)
	}
}

// List prints a [Page.Table] with a row for each item of a list.
func List[T any](p *Page, none string, heading []string, list []T, row func(T) []string) {
	rows := make([][]string, len(list))
	for i, item := range list {
		rows[i] = row(item)
	}
	p.Table(none, heading, rows)
}

// More prints the command for the next page of a list, if there is one.
func (p *Page) More(next string) {
	if next != "" {
		p.MoreBy("--after", next)
	}
}

// MoreBy is [Page.More] for a list whose next page begins by a flag of another name.
func (p *Page) MoreBy(flag, next string) { p.Line("There are more: %s", p.of.again(flag, next)) }

func (p *Page) row(cells []string, widths []int, paint func(string) Painted) {
	var b strings.Builder
	for i, cell := range cells {
		b.WriteString(string(paint(cell)))
		if i < len(cells)-1 {
			b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
	}
	p.Line("%s", Painted(strings.TrimRight(b.String(), " ")))
}

// Block prints a document with its line breaks: one that the server or this program wrote, and in which text of others is fenced.
func (p *Page) Block(text string) {
	p.Line("%s", Painted(strings.TrimSuffix(visible.Document(text), "\n")))
}

// Quote prints text of others with its line breaks, each line indented, so that none looks like one of the command.
func (p *Page) Quote(text string) {
	p.Block("    " + further.Replace(strings.TrimSuffix(visible.Document(text), "\n")))
}

// Dim is dimmed text.
func (p *Page) Dim(s string) Painted { return p.paint("2", s) }

// state colours the words for states.
func (p *Page) state(s string) Painted {
	switch s {
	case "completed", "transferred", "ready", "closed":
		return p.paint("32", s)
	case "executing", "offered", "accepted", "handing_off", "waiting", "awaiting_approval", "half_open", "busy", "draining":
		return p.paint("33", s)
	case "parked", "failed", "cancelled", "dead_lettered", "open", "offline":
		return p.paint("31", s)
	}
	return Painted(s)
}

func (p *Page) paint(code, s string) Painted {
	if !p.colour || s == "" {
		return Painted(s)
	}
	return Painted("\x1b[" + code + "m" + s + "\x1b[0m")
}
