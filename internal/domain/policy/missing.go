package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Targets reports which targets exist in a workspace now. A nil function means that all exist.
type Targets struct {
	Agent      func(name string) bool
	Capability func(name string) bool // somebody has it
	Channel    func(name string) bool
	Desk       func(name string) bool // somebody serves it; the desk [event.DeskOperators] always exists
	Unerasable bool                   // content of the record cannot be erased
}

// Missing lists the targets of the policy that do not exist, and the rules of retention that cannot be kept. file is its name in the problems.
func (p *Policy) Missing(file string, known Targets) Problems {
	m := missing{reader: &reader{file: file, places: p.at}, known: known}
	for i, rule := range p.Rules {
		path := fmt.Sprintf("rules[%d]", i)
		for n, a := range rule.When.From {
			m.agent(fmt.Sprintf("%s.when.from[%d]", path, n), a)
		}
		to := path + ".then.to"
		m.agent(to+".agent", rule.Then.To.Agent)
		m.capability(to+".capability", rule.Then.To.Capability)
		m.there(to+".channel", "channel", rule.Then.To.Channel, known.Channel, "create it, or fix the name")
		m.desk(to+".human", rule.Then.To.Human)
		m.agent(path+".then.supervised_by", rule.Then.Approver)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Chains)) {
		for i, l := range p.Chains[name] {
			at := fmt.Sprintf("chains.%s[%d]", name, i)
			m.agent(at+".agent", l.Agent)
			m.capability(at+".capability", l.Capability)
			m.desk(at+".human", l.Human)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Escalation.Agents)) {
		m.agent("escalation.agents."+name+"#key", name)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Escalation.Capabilities)) {
		m.capability("escalation.capabilities."+name+"#key", name)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Fallbacks)) {
		m.agent("fallbacks."+name+"#key", name)
		for i, f := range p.Fallbacks[name] {
			m.agent(fmt.Sprintf("fallbacks.%s[%d]", name, i), f)
		}
	}
	for i, r := range p.Retention {
		if known.Unerasable && r.AtMostDays > 0 {
			m.sayAt(fmt.Sprintf("retention[%d].at_most_days", i), "start the server with --erasable, or remove the rule", "the content of this record cannot be erased")
		}
	}
	return m.problems.sorted()
}

type missing struct {
	*reader
	known Targets
}

func (m *missing) there(path, what, name string, known func(string) bool, hint string) {
	if name != "" && known != nil && !known(name) {
		m.sayAt(path, hint, "there is no %s %s", what, name)
		m.problems[len(m.problems)-1].Path = strings.TrimSuffix(path, "#key")
	}
}

func (m *missing) agent(path, name string) {
	m.there(path, "agent", name, m.known.Agent, "register it, or fix the name")
}

func (m *missing) capability(path, name string) {
	m.there(path, "agent with the capability", name, m.known.Capability, "register one, or fix the name")
}

func (m *missing) desk(path, name string) {
	if name != event.DeskOperators {
		m.there(path, "desk", name, m.known.Desk,
			"register a person, of kind human, with the capability "+name+", or use the desk "+event.DeskOperators)
	}
}
