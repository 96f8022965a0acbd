package shell

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
// their number, or, in JSON, by the escapes of JSON. Only a [Page], which does that itself, is written past it, for its colours.
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

// onScreen puts a screen before standard output if that is a terminal.
func onScreen(env Env) Env {
	switch out := env.Stdout.(type) {
	case *screen:
		env.Terminal = true
		return env
	case *os.File:
		env.Terminal = env.Terminal || term.IsTerminal(int(out.Fd()))
	}
	if env.Terminal {
		env.Stdout = &screen{to: env.Stdout}
	}
	return env
}

// JSONOut is standard output for JSON that is copied as it arrives.
func (s *Shell) JSONOut() io.Writer {
	if w, is := s.Stdout.(*screen); is {
		return &screen{to: w.to, json: true}
	}
	return s.Stdout
}

// pages is where pages are written to.
func (s *Shell) pages() io.Writer {
	if w, is := s.Stdout.(*screen); is {
		return w.to
	}
	return s.Stdout
}
