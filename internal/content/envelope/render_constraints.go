package envelope

import (
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/internal/content/canonical"
	"github.com/trapezehq/trapeze/internal/content/prompt"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/visible"
)

// constraints writes two lists: the rules of the requester and operators, and what agents added to them.
func (p *rendering) constraints(list []Constraint) {
	var rules, added []prompt.Entry
	for i := range list {
		if c := &list[i]; c.Added {
			added = append(added, c.entry())
		} else {
			rules = append(rules, c.entry())
		}
	}
	p.Entries("Constraints", "", rules)
	p.Entries("Added by agents", "The request and other constraints win.", added)
}

// entry is the constraint with the setter of each part. The text comes last, so that it cannot pose as the label.
func (c *Constraint) entry() prompt.Entry {
	label := ", should"
	if c.Hard {
		label = ""
		if c.HardBy != "" {
			label = ", must" + setter("by", c.HardBy)
		}
	}
	if c.Max != nil {
		label += fmt.Sprintf(", at most %s", canonical.AppendNumber(nil, *c.Max)) + setter("tightened by", c.MaxBy)
	}
	switch {
	case c.Allow == nil:
	case len(c.Allow) == 0:
		label += ", only: nothing is allowed" + setter("tightened by", c.AllowBy)
	default:
		label += ", only " + namedAll(c.Allow) + setter("tightened by", c.AllowBy)
	}
	switch by := event.Bare(c.Origin); {
	case by == "":
	case strings.Contains(by, "/"):
		label += ", " + prompt.Named(by)
	default: // an agent could be called hard
		label += ", by " + prompt.Named(by)
	}
	if c.TextBy != "" {
		label += ", text" + setter("by", c.TextBy)
	}
	return prompt.Entry{Label: fmt.Sprintf("%s (%s%s) ", visible.Word(c.ID), visible.Word(string(c.Kind)), label), Text: c.Text}
}

// setter names the setter of one part of a constraint, if it is not the constraint's. Nobody gives the rule of another a limit that it
// did not have, so the setter of a limit has at most tightened it, and the rule stays its setter's.
func setter(did, by string) string {
	if by == "" {
		return ""
	}
	return " [" + did + " " + prompt.Named(event.Bare(by)) + "]"
}

func namedAll(list []string) string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = prompt.Named(s)
	}
	return strings.Join(names, " ")
}
