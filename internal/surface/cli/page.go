package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// emit answers: v as one JSON document with --json, and what text writes otherwise.
func (s *shell) emit(v any, text func(*page)) error {
	if s.flags.json {
		enc := json.NewEncoder(s.env.Stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(v)
	}
	if s.flags.quiet {
		if done, err := s.quiet(v); done {
			return err
		}
	}
	p := &page{colour: s.colours()}
	text(p)
	_, err := s.env.Stdout.Write(p.b.Bytes())
	return err
}

// colours says whether the output may be coloured: a terminal, and nobody said no.
func (s *shell) colours() bool {
	if s.env.Getenv("NO_COLOR") != "" || s.env.Getenv("TERM") == "dumb" {
		return false
	}
	f, ok := s.env.Stdout.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// page is text for people: aligned, with every invisible character of others made visible.
type page struct {
	b      bytes.Buffer
	colour bool
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

// field is one "label: value" of an aligned list.
type field struct{ label, value string }

// fields prints those that have a value, aligned.
func (p *page) fields(list ...field) {
	width := 0
	for _, f := range list {
		if f.value != "" {
			width = max(width, utf8.RuneCountInString(f.label))
		}
	}
	for _, f := range list {
		if f.value != "" {
			p.line("%s%s  %s", p.dim(f.label), strings.Repeat(" ", width-utf8.RuneCountInString(f.label)), p.state(oneLine(f.value)))
		}
	}
}

// table prints rows under a heading, or what to say where there are none.
func (p *page) table(none string, heading []string, rows [][]string) {
	if len(rows) == 0 {
		p.line("%s", none)
		return
	}
	widths := make([]int, len(heading))
	for i, h := range heading {
		widths[i] = utf8.RuneCountInString(h)
	}
	for r, row := range rows {
		for i, cell := range row {
			rows[r][i] = oneLine(cell)
			widths[i] = max(widths[i], utf8.RuneCountInString(rows[r][i]))
		}
	}
	p.row(heading, widths, p.dim)
	for _, row := range rows {
		p.row(row, widths, p.state)
	}
}

func (p *page) row(cells []string, widths []int, paint func(string) string) {
	var b strings.Builder
	for i, cell := range cells {
		b.WriteString(paint(cell))
		if i < len(cells)-1 {
			b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
	}
	p.line("%s", strings.TrimRight(b.String(), " "))
}

// block prints text of others, lines kept.
func (p *page) block(text string) {
	p.line("%s", strings.TrimSuffix(visible(text, true), "\n"))
}

func (p *page) dim(s string) string { return p.paint("2", s) }

// state paints the words that say how something stands.
func (p *page) state(s string) string {
	switch s {
	case "completed", "transferred", "ready", "closed":
		return p.paint("32", s)
	case "executing", "offered", "accepted", "handing_off", "waiting", "awaiting_approval", "half_open", "busy", "draining":
		return p.paint("33", s)
	case "parked", "failed", "cancelled", "dead_lettered", "open", "offline":
		return p.paint("31", s)
	}
	return s
}

func (p *page) paint(code, s string) string {
	if !p.colour || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// oneLine makes text of others fit for a line: invisible characters are shown as escapes.
func oneLine(s string) string { return visible(s, false) }

func visible(s string, lines bool) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' && lines, r == '\t' && lines:
			b.WriteRune(r)
		case r == '\n' || r == '\t':
			b.WriteByte(' ')
		case unicode.IsPrint(r) && r != utf8.RuneError:
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "\\u{%x}", r)
		}
	}
	return b.String()
}

// clip shortens text to n characters.
func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// clock is a moment as people read it: the time alone if it is today.
func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	t = t.Local()
	if y, m, d := t.Date(); sameDay(y, int(m), d) {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04:05")
}

func sameDay(y, m, d int) bool {
	ny, nm, nd := now().Date()
	return y == ny && m == int(nm) && d == nd
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func number[T ~uint64 | ~int64](n T) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func names(list []string) string { return strings.Join(list, ", ") }
