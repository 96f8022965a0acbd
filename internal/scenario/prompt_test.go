package scenario

import (
	"strings"
	"testing"
)

// prompt is a rendered envelope as a careful reader sees it.
type prompt struct {
	text     string
	sections map[string]string // what stands in the fence under each heading
	outside  []string          // the lines outside of fences
}

// readPrompt reads the fences as CommonMark does: one is closed by a line of at least as many backquotes and nothing
// else, indented by at most three spaces.
func readPrompt(t testing.TB, text string) prompt {
	t.Helper()
	p := prompt{text: text, sections: map[string]string{}}
	fence, title := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		bare := strings.TrimLeft(line, " ")
		run := bare[:len(bare)-len(strings.TrimLeft(bare, "`"))]
		if len(line)-len(bare) > 3 {
			run = ""
		}
		switch {
		case fence == "" && len(run) >= 3:
			fence = run
			if _, twice := p.sections[title]; twice {
				t.Errorf("two fences under %q", title)
			}
			p.sections[title] = ""
		case fence != "" && len(run) >= len(fence) && strings.TrimSpace(bare[len(run):]) == "":
			fence = ""
		case fence != "":
			p.sections[title] += line + "\n"
		default:
			p.outside = append(p.outside, line)
			if heading, is := strings.CutPrefix(line, "## "); is {
				title = heading
			}
		}
	}
	if fence != "" {
		t.Errorf("a fence stays open:\n%s", text)
	}
	return p
}

// entries are those of a list in a section, by the first word of their label.
func (p prompt) entries(section string) map[string]string {
	out := map[string]string{}
	label := ""
	for line := range strings.Lines(p.sections[section]) {
		if first, is := strings.CutPrefix(line, "- "); is {
			name, text, _ := strings.Cut(first, ": ")
			label, _, _ = strings.Cut(name, " ")
			out[label] = strings.TrimSuffix(text, "\n")
			continue
		}
		out[label] += "\n" + strings.TrimSuffix(strings.TrimPrefix(line, "  "), "\n")
	}
	return out
}
