package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

func (c *checker) checkChains() {
	c.flat = map[string][]Level{}
	if !c.most("chains", "chains", len(c.Chains), MaxChains) {
		return
	}
	names := slices.Sorted(maps.Keys(c.Chains))
	sound := true
	for _, name := range names {
		path := "chains." + name
		if !c.name(path+"#key", "chain name", name) {
			sound = false
			continue
		}
		sound = c.checkLevels(path, c.Chains[name]) && sound
	}
	if !sound {
		return // what follows would only repeat it
	}
	for _, name := range names {
		if levels, ok := c.flatten(name); ok {
			c.flat[name] = levels
		}
	}
}

// checkLevels looks at a chain's levels one by one, and at its end.
func (c *checker) checkLevels(path string, levels []Level) bool {
	if !c.most(path, "levels", len(levels), MaxLevels) {
		return false
	}
	sound := true
	for i, l := range levels {
		at := fmt.Sprintf("%s[%d]", path, i)
		set := c.oneOf(at, []choice{{"agent", l.Agent}, {"capability", l.Capability}, {"human", l.Human}, {"chain", l.Chain}})
		last := i == len(levels)-1
		switch {
		case set == "":
			sound = false
		case set == "chain" && !last, set == "human" && !last:
			sound = false
			c.sayAt(at, "move it to the end", "nothing can follow a level of the kind %s", set)
		case set == "chain" && c.Chains[l.Chain] == nil:
			sound = false
			c.sayAt(at+".chain", "define it under chains", "there is no chain %s", l.Chain)
		case last && set != "chain" && set != "human":
			sound = false
			c.sayAt(at, "end it with a level such as human: "+event.DeskOperators, "the chain has no end: nobody is left after its last level")
		}
	}
	if len(levels) == 0 {
		c.sayAt(path, "end it with a level such as human: "+event.DeskOperators, "the chain has no levels")
		return false
	}
	return sound
}

// flatten is a chain's levels with those of the chains that it goes on with. A cycle, the same receiver twice, or too many
// levels are problems.
func (c *checker) flatten(name string) (flat []Level, ok bool) {
	path, walked := "chains."+name, []string{name}
	for at := name; at != ""; {
		next := ""
		for _, l := range c.Chains[at] {
			if l.Chain != "" {
				next = l.Chain
				continue
			}
			if slices.Contains(flat, l) {
				c.sayAt(path, "name each receiver once", "%s comes twice along %s", l, strings.Join(walked, " → "))
				return nil, false
			}
			flat = append(flat, l)
		}
		if slices.Contains(walked, next) {
			c.sayAt(fmt.Sprintf("%s[%d]", path, len(c.Chains[name])-1), "end one of them with a level such as human: "+event.DeskOperators,
				"the chains go round in a cycle: %s → %s", strings.Join(walked, " → "), next)
			return nil, false
		}
		if at = next; at != "" {
			walked = append(walked, at)
		}
	}
	if len(flat) > MaxLevels {
		c.sayAt(path, fmt.Sprintf("at most %d: a task is not escalated more often", MaxLevels), "%d levels are too many along %s", len(flat), strings.Join(walked, " → "))
		return nil, false
	}
	return flat, true
}

// String is the level in words, such as "agent ann".
func (l Level) String() string {
	switch {
	case l.Agent != "":
		return "agent " + l.Agent
	case l.Capability != "":
		return "capability " + l.Capability
	case l.Chain != "":
		return "chain " + l.Chain
	}
	return "desk " + l.Human
}

func (c *checker) checkEscalation() {
	e := &c.Escalation
	for _, m := range []struct {
		path, what string
		of         map[string]string
	}{{"escalation.agents", "agent name", e.Agents}, {"escalation.capabilities", "capability", e.Capabilities}} {
		if !c.most(m.path, "entries", len(m.of), MaxNamed) {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(m.of)) {
			path := m.path + "." + name
			c.name(path+"#key", m.what, name)
			c.known(path, m.of[name])
			if m.what == "agent name" && slices.Contains(c.flat[m.of[name]], Level{Agent: name}) {
				c.sayAt(path, "give it a chain of others", "agent %s would be escalated to itself along chain %s", name, m.of[name])
			}
		}
	}
	if _, given := c.places["escalation.default"]; given {
		c.known("escalation.default", e.Default)
	}
	c.order = slices.SortedFunc(maps.Keys(e.Capabilities), func(a, b string) int {
		x, y := c.places["escalation.capabilities."+a+"#key"], c.places["escalation.capabilities."+b+"#key"]
		return cmp.Or(cmp.Compare(x.line, y.line), cmp.Compare(x.column, y.column))
	})
}

func (c *checker) known(path, chain string) {
	if c.name(path, "chain name", chain) && c.Chains[chain] == nil {
		c.sayAt(path, "define it under chains", "there is no chain %s", chain)
	}
}

// checkFallbacks allows agents to be fallbacks of each other: nobody is asked twice for one handoff.
func (c *checker) checkFallbacks() {
	if !c.most("fallbacks", "agents", len(c.Fallbacks), MaxNamed) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(c.Fallbacks)) {
		path := "fallbacks." + name
		c.name(path+"#key", "agent name", name)
		if len(c.Fallbacks[name]) == 0 {
			c.sayAt(path, "name an agent, or leave it out", "the list is empty")
		}
		c.most(path, "fallbacks", len(c.Fallbacks[name]), MaxFallbacks)
		for i, f := range c.Fallbacks[name] {
			at := fmt.Sprintf("%s[%d]", path, i)
			if c.name(at, "agent name", f) && slices.Contains(c.Fallbacks[name][:i], f) {
				c.sayAt(at, "name each once", "agent %s is named twice", f)
			}
			if f == name {
				c.sayAt(at, "name others", "agent %s would be a fallback of itself", f)
			}
		}
	}
}
