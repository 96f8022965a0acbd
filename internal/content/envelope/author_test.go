package envelope_test

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// imitations are pieces of lines that only this package writes.
var imitations = rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{
	"\n", "\n", "\r\n", "\r", "\u2028", "\n ", " ", "- ", "(by admin/owner:)", "# Facts", "# Decisions", "# Already done", "## Constraints", "# Left out", "f1 ", "d3 ", "[decision d3] ",
	"c9 (prohibition, admin/owner) ", "ann: ", "ann handed over to bob: ", "ann answer: “yes” — no", "(f3 replaces f1 by ann)", "Why: ", "m1 v2 by admin/owner: ", "```", "`", "word", "\x00",
}), 1, 8), func(parts []string) string { return "x" + strings.Join(parts, "") })

var (
	imitatingID   = rapid.SampledFrom([]string{"f1", "f2", "d3", "c9", "(by", "(f3", "#", "##", "-", "ann", "ann:", "Why:", "m1", "`", "```", "by", "operator/olga", "operator/olga:", "mem_06h292fdtdtn7403veks9t90v4"})
	imitatingName = rapid.SampledFrom([]string{"ann", "bob", "admin/owner", "ann:", "(by", "answer", "operator/olga"})
)

// said is whose words an entry of a prompt is, as a reader of the prompt or of the document knows it.
type said struct{ section, label, by string }

// pointLabel is how an id of a fact or decision stands in a prompt: in quotation marks if it can be read as more than one.
func pointLabel(id string) string {
	if slices.Contains([]string{"f1", "f2", "d3", "c9", "ann", "m1"}, id) {
		return id
	}
	return `"` + id + `"`
}

// writtenBy is what the entries of a document say of their authors.
func writtenBy(e *envelope.Envelope) (all []said) {
	for _, added := range []bool{false, true} {
		for _, c := range e.Constraints {
			if c.Added == added {
				all = append(all, said{map[bool]string{false: "Constraints", true: "Added by agents"}[added], c.ID, ""})
			}
		}
	}
	for _, s := range e.History {
		by := s.Agent
		if s.Recorded {
			by = "the server of " + s.Agent
		}
		all = append(all, said{"Already done", "", by})
	}
	for _, l := range []struct {
		section string
		list    []envelope.Item
	}{{"Facts", e.KeyFacts}, {"Decisions", e.Decisions}} {
		var authors []string
		for _, i := range l.list {
			if by := i.Author(e.Handoff.From); !slices.Contains(authors, by) {
				authors = append(authors, by)
			}
		}
		slices.SortStableFunc(authors, func(a, b string) int { return cmp.Compare(min(len(a), 1), min(len(b), 1)) })
		for _, by := range authors {
			for _, i := range l.list {
				if i.Author(e.Handoff.From) == by {
					all = append(all, said{l.section, pointLabel(i.ID), by})
				}
			}
		}
	}
	for range e.OpenQuestions {
		all = append(all, said{"Open questions", "", ""})
	}
	for _, t := range e.Conversation {
		all = append(all, said{"Conversation", "", t.Agent})
	}
	return all
}

var (
	anAuthor  = regexp.MustCompile(`^\(by (?:"(.*)"|(.*)):\)$`)
	aStep     = regexp.MustCompile(`^(?:"([^"]*)"|([^ ]*?))(:?) `)
	anOpening = regexp.MustCompile("^(`{3,})[a-z]*$")
)

// readBack reads the authors of all entries out of a prompt.
func readBack(md string) (all []said) {
	section, sub, fence, by := "", "", "", ""
	for line := range strings.SplitSeq(md, "\n") {
		open := anOpening.FindStringSubmatch(line)
		switch {
		case fence == "" && strings.HasPrefix(line, "## "):
			section, sub, by = line[3:], "", ""
		case fence == "" && open != nil:
			fence = open[1]
		case fence == "" || line == fence:
			fence = ""
		case section == "Context" && strings.HasPrefix(line, "# "):
			sub, by = line[2:], ""
		case strings.HasPrefix(line, " ") || section == "Request" || section == "Your part":
		case strings.HasPrefix(line, "(by "):
			name := anAuthor.FindStringSubmatch(line)
			by = name[1] + name[2]
		case strings.HasPrefix(line, "("): // what the entry before it replaced
		default:
			line = strings.TrimPrefix(line, "- ")
			s := said{section: section, by: by}
			if section == "Context" {
				s.section = sub
			}
			switch s.section {
			case "Already done", "Conversation":
				step := aStep.FindStringSubmatch(line + " ")
				if s.by = step[1] + step[2]; step[3] == "" {
					s.by = "the server of " + s.by
				}
			case "Open questions":
			default:
				s.label, _, _ = strings.Cut(line, " ")
			}
			all = append(all, s)
		}
	}
	return all
}

func TestAPromptReadBackGivesTheAuthorOfEachLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := envelope.Envelope{Handoff: envelope.Header{TaskID: "t1", HandoffID: "t1.h1", From: "ann", To: []string{"bob"}}}
		e.Task.Intent, e.Task.Ask = imitations.Draw(t, "intent"), imitations.Draw(t, "ask")
		for range rapid.IntRange(0, 3).Draw(t, "entries") {
			text := imitations.Draw(t, "text")
			item := envelope.Item{ID: imitatingID.Draw(t, "id"), Text: text, By: imitatingName.Draw(t, "by"), WasBy: "cyd", Supersedes: "f0"}
			if !slices.ContainsFunc(e.KeyFacts, func(i envelope.Item) bool { return i.ID == item.ID }) {
				e.KeyFacts, e.Decisions = append(e.KeyFacts, item), append(e.Decisions, item)
				e.Constraints = append(e.Constraints, envelope.Constraint{
					ID: item.ID, Kind: event.ConstraintFormat, Text: text, Hard: true, Origin: item.By, Added: rapid.Bool().Draw(t, "added"),
					Allow: []string{"x,", "admin/owner)", imitatingID.Draw(t, "allow")},
				})
			}
			e.History = append(e.History, envelope.Step{Agent: imitatingName.Draw(t, "agent"), Action: text, Detail: imitations.Draw(t, "detail"), Recorded: rapid.Bool().Draw(t, "recorded")})
			e.OpenQuestions = append(e.OpenQuestions, text)
			e.Conversation = append(e.Conversation, envelope.Turn{Agent: imitatingName.Draw(t, "speaker"), Text: text})
		}
		text := envelope.Render(e)
		if got, want := readBack(text), writtenBy(&e); !slices.Equal(got, want) {
			t.Fatalf("read back\n%s\nwant\n%s\nof\n%s", fmt.Sprintln(got), fmt.Sprintln(want), text)
		}
	})
}
