package toolset

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/client"
)

// Set is a choice of tools and of their prefix. The zero Set has the default tools, without a prefix.
type Set struct{ prefix, tools string }

// MaxPrefix is the maximum length of a prefix, in bytes. Model APIs take names of tools of at most 64.
const MaxPrefix = 32

// valid matches a prefix with which every name is one that all model APIs take.
var valid = regexp.MustCompile(fmt.Sprintf(`^[A-Za-z][A-Za-z0-9_-]{0,%d}$`, MaxPrefix-1))

// sets are the named sets, apart from the default.
var sets = map[string][]string{
	"worker": {"inbox", "accept", "reject", "progress", "complete", "ask", "status"},
	full:     append(slices.Clone(usual), "constrain", "artifact", "channel", "dead", "agent", "annotate", "alerts", "do"),
}

// usual are the tools of the default set, in the order in which they are listed.
var usual = []string{
	"join", "send", "inbox", "accept", "reject", "decide", "progress", "complete",
	"escalate", "ask", "status", "cancel", "remember", "recall", "conversation", "route",
}

// New returns the set of a prefix and the name of a set; both may be empty. It refuses (client.Invalid) others than the valid ones.
func New(prefix, tools string) (Set, error) {
	if prefix != "" && !valid.MatchString(prefix) {
		return Set{}, &client.Error{
			Code: client.Invalid, Message: fmt.Sprintf("%.40q is not a prefix of tools", prefix),
			Hint: fmt.Sprintf("use a letter, then letters, digits, _ and -, at most %d in all, such as trapeze_", MaxPrefix),
		}
	}
	if tools != "" && tools != defaultName && sets[tools] == nil {
		return Set{}, &client.Error{
			Code: client.Invalid, Message: fmt.Sprintf("there is no set of tools %.40q", tools), Hint: "use one of: " + strings.Join(Names(), ", "),
		}
	}
	if tools == defaultName {
		tools = ""
	}
	return Set{prefix, tools}, nil
}

// defaultName is the name of the default set.
const defaultName = "default"

// Names lists the names of the sets.
func Names() []string { return append([]string{defaultName}, slices.Sorted(maps.Keys(sets))...) }

// Parse returns the set that the query of an address chooses, in prefix and tools. It refuses other parameters.
func Parse(q url.Values) (Set, error) {
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if name != "prefix" && name != "tools" || len(q[name]) > 1 {
			return Set{}, &client.Error{
				Code: client.Invalid, Message: fmt.Sprintf("the address has the parameter %.40q, which is not one of its parameters, or is there twice", name),
				Hint: "use prefix (of the names of tools) and tools (" + strings.Join(Names(), " or ") + "), each once: /mcp?prefix=trapeze_&tools=worker",
			}
		}
	}
	return New(q.Get("prefix"), q.Get("tools"))
}

// Tools lists the tools of the set, by their own names.
func (s Set) Tools() []string {
	if s.tools == "" {
		return usual
	}
	return sets[s.tools]
}

// Full reports whether the set has all tools, with all of their arguments.
func (s Set) Full() bool { return s.tools == full }

// full is the name of the set with all tools.
const full = "all"

// Has reports whether the set has a tool.
func (s Set) Has(tool string) bool { return slices.Contains(s.Tools(), tool) }

// Name is the name of a tool for the client. Of a tool that the set does not have it says so.
func (s Set) Name(tool string) string {
	if !s.Has(tool) {
		return tool + " (not one of your tools)"
	}
	return s.prefix + tool
}

// Prefixed is the name of a prompt or resource for the client: as tools, they have the prefix, since clients put those of several servers into one
// list, and frameworks make tools of them. URIs have none.
func (s Set) Prefixed(name string) string { return s.prefix + name }

// Seen lists the names that the client sees.
func (s Set) Seen() []string {
	var names []string
	for _, tool := range s.Tools() {
		names = append(names, s.prefix+tool)
	}
	return names
}

// Own returns the own name of a tool that the client calls by a name; ok is false if the client does not see such a tool.
func (s Set) Own(name string) (tool string, ok bool) {
	tool, ok = strings.CutPrefix(name, s.prefix)
	return tool, ok && s.Has(tool)
}

// mention matches a tool, or alternatives, in a template.
var mention = regexp.MustCompile(`\{[a-z]+(\|[a-z]+)*\}`)

// Text fills in a template: {status} becomes the name of the tool status for the client, and {complete|send|escalate} those of them that
// the set has: "complete, send or escalate". Then it formats args as [fmt.Sprintf] does; the args are not read as templates.
func (s Set) Text(format string, args ...any) string {
	format = s.fill(format)
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

func (s Set) fill(text string) string {
	return mention.ReplaceAllStringFunc(text, func(m string) string {
		tools := strings.Split(strings.Trim(m, "{}"), "|")
		if len(tools) == 1 {
			if !slices.Contains(sets[full], tools[0]) {
				return m
			}
			return s.Name(tools[0])
		}
		var names []string
		for _, tool := range tools {
			if s.Has(tool) {
				names = append(names, s.Name(tool))
			}
		}
		if len(names) < 2 {
			return strings.Join(names, "")
		}
		last := len(names) - 1
		return strings.Join(names[:last], ", ") + " or " + names[last]
	})
}

type contextKey struct{}

// With returns a context of a message whose sender sees a set.
func With(ctx context.Context, s Set) context.Context { return context.WithValue(ctx, contextKey{}, s) }

// From returns the set of the message of ctx; ok is false if none was chosen.
func From(ctx context.Context) (s Set, ok bool) {
	s, ok = ctx.Value(contextKey{}).(Set)
	return s, ok
}
