package hintroute

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// most is how many routes a refusal names.
const most = 6

// command finds the command that a hint names: one or two words after the name of the program.
var command = regexp.MustCompile(`\btrapeze ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?`)

// ids are the forms of ids in a refusal, by the beginning of the paths that take them.
var ids = []struct {
	path string
	form *regexp.Regexp
}{
	{"/v1/handoffs/", regexp.MustCompile(`\btask_[0-9a-z]{26}\.h[0-9]+\b`)},
	{"/v1/tickets/", regexp.MustCompile(`\btask_[0-9a-z]{26}\.k[0-9]+\b`)},
	{"/v1/asks/", regexp.MustCompile(`\btask_[0-9a-z]{26}\.t[0-9]+\b`)},
	{"/v1/shares/", regexp.MustCompile(`\btask_[0-9a-z]{26}\.s[0-9]+\b`)},
	{"/v1/tasks/", regexp.MustCompile(`\btask_[0-9a-z]{26}\b`)},
	{"/v1/dead/", regexp.MustCompile(`\btask_[0-9a-z]{26}\b`)},
	{"/v1/memory/", regexp.MustCompile(`\bmem_[0-9a-z]{26}\b`)},
}

// Of returns the routes that a hint speaks of, as method and path, in the order of the hint, with the first id of the right kind in the message or the
// hint; nil if it speaks of none.
func Of(hint, message string) []string {
	var out []string
	for _, route := range remembered(hint) {
		if route = withID(route, message+" "+hint); len(out) < most && !slices.Contains(out, route) {
			out = append(out, route)
		}
	}
	return out
}

// maxRemembered is how many hints are remembered with their routes. Most are constants; some have names in them.
const maxRemembered = 1024

var memo = struct {
	sync.RWMutex
	routes map[string][]string
}{routes: map[string][]string{}}

// remembered returns the routes of a hint, which takes a hundred microseconds the first time.
func remembered(hint string) []string {
	memo.RLock()
	routes, ok := memo.routes[hint]
	memo.RUnlock()
	if ok {
		return routes
	}
	routes = spoken(hint)
	memo.Lock()
	defer memo.Unlock()
	if len(memo.routes) >= maxRemembered {
		clear(memo.routes)
	}
	memo.routes[strings.Clone(hint)] = routes
	return routes
}

// spoken are the routes that a hint speaks of, in its order.
func spoken(hint string) (out []string) {
	type found struct {
		at     int
		routes []string
	}
	var all []found
	for _, m := range command.FindAllStringSubmatchIndex(hint, -1) {
		all = append(all, found{m[0], commands[words(hint, m)]})
	}
	for _, p := range phrases {
		if at := p.words.FindStringIndex(hint); at != nil {
			all = append(all, found{at[0], p.routes})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return a.at - b.at })
	for _, f := range all {
		out = append(out, f.routes...)
	}
	return out
}

// Commands returns the commands that a text names, each with whether it is known: it has routes, or no route replaces it.
func Commands(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range command.FindAllStringSubmatchIndex(text, -1) {
		name := words(text, m)
		_, known := commands[name]
		out[name] = known
	}
	return out
}

// Routes returns all routes that hints can name.
func Routes() (out []string) {
	for _, routes := range commands {
		out = append(out, routes...)
	}
	for _, p := range phrases {
		out = append(out, p.routes...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// words is the command of a match: two words if they are one, otherwise the first.
func words(text string, m []int) string {
	first := text[m[2]:m[3]]
	if m[4] < 0 {
		return first
	}
	both := first + " " + text[m[4]:m[5]]
	_, two := commands[both]
	if _, one := commands[first]; two || !one {
		return both
	}
	return first
}

// withID fills the id of a path in, if the text has one.
func withID(route, text string) string {
	for _, kind := range ids {
		if strings.Contains(route, " "+kind.path+"{id}") {
			if id := kind.form.FindString(text); id != "" {
				return strings.Replace(route, "{id}", id, 1)
			}
		}
	}
	return route
}
