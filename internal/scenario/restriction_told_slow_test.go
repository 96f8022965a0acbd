//go:build slow || outside

package scenario

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/trapezehq/trapeze/internal/content/envelope"
)

// readable is what a receiver reads of its restrictions: nil allows anything, an empty list nothing.
type readable struct {
	permissions []string
	allow       map[string][]string
	most        map[string]*float64
}

// inDocument is what the JSON of an envelope restricts.
func inDocument(doc envelope.Envelope) readable {
	r := readable{permissions: doc.Handoff.Permissions, allow: map[string][]string{}, most: map[string]*float64{}}
	for _, c := range doc.Constraints {
		r.allow[c.ID], r.most[c.ID] = c.Allow, c.Max
	}
	return r
}

var (
	permissionLine = regexp.MustCompile(`(?m)^- Your permissions: (.*)$`)
	constraintLine = regexp.MustCompile(`(?m)^(\S+) \([a-z]+((?:, [^)]*)?)\) `)
	allowPart      = regexp.MustCompile(`, only ([a-c](?: [a-c])*)`)
)

// inPrompt is what the text of a prompt restricts.
func inPrompt(prompt string) readable {
	r := readable{allow: map[string][]string{}}
	if m := permissionLine.FindStringSubmatch(prompt); m != nil {
		r.permissions = []string{}
		if m[1] != "none" {
			for _, p := range strings.Split(m[1], ", ") {
				r.permissions = append(r.permissions, strings.Trim(p, "`"))
			}
		}
	}
	for _, m := range constraintLine.FindAllStringSubmatch(prompt, -1) {
		r.allow[m[1]] = nil
		if strings.Contains(m[2], ", only: nothing is allowed") {
			r.allow[m[1]] = []string{}
		} else if only := allowPart.FindStringSubmatch(m[2]); only != nil {
			r.allow[m[1]] = strings.Fields(only[1])
		}
	}
	return r
}

// noMore says what a receiver reads as allowed now and did not before; empty if nothing.
func (r readable) noMore(prev readable) string {
	if !within(r.permissions, prev.permissions) {
		return fmt.Sprintf("permissions %#v after %#v", r.permissions, prev.permissions)
	}
	for id, before := range prev.allow {
		now, there := r.allow[id]
		if !there || !within(now, before) {
			return fmt.Sprintf("constraint %s allows %#v after %#v", id, now, before)
		}
	}
	for id, before := range prev.most {
		if now := r.most[id]; before != nil && (now == nil || *now > *before) {
			return "the maximum of constraint " + id + " has grown or is gone"
		}
	}
	return ""
}
