package scenario

import (
	"regexp"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/usecase/conversations"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// prompt is a rendered envelope as a careful reader sees it.
type prompt struct {
	text     string
	sections map[string]string // what stands in the fence under each heading, and in the lists of the last one
	outside  []string          // the lines outside of fences
}

// readPrompt reads the fences as CommonMark does: one is closed by a line of at least as many backquotes and nothing
// else, indented by at most three spaces.
func readPrompt(t testing.TB, text string) prompt {
	t.Helper()
	p := prompt{text: text, sections: map[string]string{}}
	fence, title, lists := "", "", map[string]bool{}
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
			if list, is := strings.CutPrefix(line, "# "); is && (title == listed || lists[title]) {
				title = list
				lists[title] = true
				if _, twice := p.sections[title]; twice {
					t.Errorf("two lists under %q", title)
				}
				p.sections[title] = ""
				continue
			}
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

// listed is the heading of the fence with the lists.
const listed = "Context"

// labels are what entries begin with: an id, and what is said of it.
var labels = regexp.MustCompile(`^(\S+)(?: v\d+)?(?: by \S+)?(?: \([^)]*\))?:? `)

// entries are those of a list in a section, by the first word of their label.
func (p prompt) entries(section string) map[string]string {
	out := map[string]string{}
	label := ""
	for line := range strings.Lines(p.sections[section]) {
		if more, is := strings.CutPrefix(line, " "); is {
			out[label] += "\n" + strings.TrimSuffix(more, "\n")
			continue
		}
		found := labels.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		label = found[1]
		out[label] = strings.TrimSuffix(line[len(found[0]):], "\n")
	}
	return out
}

func TestASilentSenderDoesNotEraseTheLastSummary(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd")
		h.say(h.agent("ann"), "talk", conversations.AppendTurnInput{Role: conversation.User, Text: "Where is my parcel?"})
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "find the parcel", Start: true, Conversation: "talk"})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}, Content: envelopes.Content{Summary: "It left the depot on Monday."}})
		b := h.acceptPrompt("bob")
		h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"cyd"}, Content: envelopes.Content{Decisions: []envelopes.Point{{Text: "ask the driver"}}}})
		if c := h.acceptPrompt("cyd"); !strings.Contains(c.Content.Prompt, "It left the depot on Monday.") {
			h.Errorf("bob says nothing, and ann's summary is gone:\n%s", c.Content.Prompt)
		}
	})
}
