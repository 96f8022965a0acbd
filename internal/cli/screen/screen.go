package screen

import (
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/trapezehq/trapeze/internal/domain/visible"
)

// screen is a terminal. What a command writes to it is made safe to show, also what it copies from the server as it arrives: hidden characters are shown by
// their number, or, in JSON, by the escapes of JSON. Only what does that itself, for its colours, is written past it.
type screen struct {
	to   io.Writer
	json bool
	tail []byte // the first bytes of a character whose others are not written yet
}

func (w *screen) Write(b []byte) (int, error) {
	text := slices.Concat(w.tail, b)
	n := len(text)
	for i := 1; i < utf8.UTFMax && i <= n; i++ {
		if start := text[n-i:]; utf8.RuneStart(start[0]) {
			if !utf8.FullRune(start) {
				n -= i
			}
			break
		}
	}
	w.tail = slices.Clone(text[n:])
	show := visible.Document
	if w.json {
		show = jsonLines
	}
	if _, err := io.WriteString(w.to, show(string(text[:n]))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// jsonLines is [visible.JSON] for JSON with line ends between its values.
func jsonLines(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, l := range lines {
		body, ended := strings.CutSuffix(l, "\n")
		if lines[i] = visible.JSON(body); ended {
			lines[i] += "\n"
		}
	}
	return strings.Join(lines, "")
}

// Before puts a screen before an output if that is a terminal, and reports whether it is. What is known to be one need not be a file.
func Before(out io.Writer, known bool) (io.Writer, bool) {
	switch out := out.(type) {
	case *screen:
		return out, true
	case *os.File:
		known = known || term.IsTerminal(int(out.Fd()))
	}
	if known {
		out = &screen{to: out}
	}
	return out, known
}

// JSON is an output for JSON that is copied as it arrives.
func JSON(out io.Writer) io.Writer {
	if w, is := out.(*screen); is {
		return &screen{to: w.to, json: true}
	}
	return out
}

// Past is the terminal behind a screen, for what is safe to show already; any other output is itself.
func Past(out io.Writer) io.Writer {
	if w, is := out.(*screen); is {
		return w.to
	}
	return out
}
