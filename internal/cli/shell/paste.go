package shell

import (
	"fmt"

	"github.com/trapezehq/trapeze/internal/cli/advice"
)

// paste returns a text whose commands act as this one: with its flags.
func (s *Shell) paste(text string) string {
	if s.root == nil { // no command has been set up
		return text
	}
	flags := []advice.Flag{{Name: "--agent", Value: s.Flags.Agent, Acts: true}}
	return advice.Repeat(text, flags, func(words []string) int {
		_, rest, err := s.root.Find(words)
		if err != nil {
			return 0
		}
		return len(words) - len(rest)
	})
}

// Next prints a line with a command for the reader to paste: see [Shell.paste]. A command for somebody else is printed with Line.
func (p *Page) Next(format string, args ...any) {
	p.Line("%s", p.of.paste(fmt.Sprintf(format, args...)))
}
