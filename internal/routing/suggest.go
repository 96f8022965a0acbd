package routing

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func unknownAgent(name string, dir Directory) error {
	if slices.Contains(wordsForPeople, name) {
		return noDesk(name, dir)
	}
	var names []string
	for h := range dir.All() {
		if h.Agent.Exists() {
			names = append(names, h.Agent.Name)
		}
	}
	if len(names) == 0 {
		return refusal.New(refusal.NotFound, agent.ToAdd("register an agent", name, " first", "[register one](agent add) first"), "agent %s is not registered; no agent is", name)
	}
	near := Closest(name, names)
	return refusal.New(refusal.NotFound, "use one of: "+strings.Join(near, ", ")+agent.ToAdd("", name, "", ""),
		"agent %s is not registered", name).With("did_you_mean", near)
}

// wordsForPeople are names that no new agent may have, by which a sender means people.
var wordsForPeople = []string{"human", "humans", "person", "people", "operator", "operators"}

// noDesk is the refusal of a word for people that names no desk.
func noDesk(name string, dir Directory) error {
	desks := []string{"human:" + event.DeskOperators}
	for h := range dir.All() {
		if h.Agent.Exists() && h.Agent.Spec.Kind == agent.KindHuman {
			for _, c := range h.Agent.Spec.Capabilities {
				desks = append(desks, "human:"+c)
			}
		}
	}
	slices.Sort(desks[1:])
	desks = slices.Compact(desks)
	return refusal.New(refusal.NotFound, "to ask people, name their desk: "+strings.Join(desks[:min(len(desks), 8)], ", "),
		"agent %s is not registered", name).With("did_you_mean", desks[:min(len(desks), 8)])
}

func unknownCapability(needs []string, dir Directory) error {
	known := capabilities(dir)
	what := strings.Join(needs, " and ")
	for h := range dir.All() {
		if len(needs) == 1 && h.Agent.Exists() && h.Agent.Spec.Has(needs[0]) { // a person, otherwise it would have been found
			return refusal.New(refusal.NotFound, "[send it](send) to the people at that desk: human:"+needs[0], "no agent can do %s, only people", what)
		}
	}
	if len(known) == 0 {
		return refusal.New(refusal.NotFound, "see [which agents there are](agent list), name one or human:operators, or [register one that has it](agent add)", "no agent can do %s; none has any capability", what)
	}
	for _, n := range needs {
		if !slices.Contains(known, n) {
			near := Closest(n, known)
			return refusal.New(refusal.NotFound, "use one of: "+strings.Join(near, ", "),
				"no agent can do %s", n).With("did_you_mean", near)
		}
	}
	return refusal.New(refusal.NotFound, "ask for fewer capabilities, see [which agents there are](agent list), or [register one that has them all](agent add)",
		"no single agent can do %s", what)
}

// Closest lists the names most similar to name, best first, at most eight.
func Closest(name string, names []string) []string {
	type near struct {
		name     string
		distance int
	}
	all := make([]near, len(names))
	for i, n := range names {
		all[i] = near{n, distance(name, n)}
	}
	slices.SortFunc(all, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	all = all[:min(len(all), maxSuggested)]
	list := make([]string, len(all))
	for i, n := range all {
		list[i] = n.name
	}
	return list
}

// distance is the least number of bytes to insert, delete or replace to turn a into b. Names are at most
// event.MaxName bytes long, which bounds the work.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
