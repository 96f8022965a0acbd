package alert

import (
	"cmp"
	"slices"
)

// Named returns the conditions of a judgement as they have alerts: those of agents that have none of their own are one, of [Other].
func Named(s State, c Judge) (list []Condition) {
	for _, h := range raisable(&s, c) {
		list = append(list, h.Condition)
	}
	return list
}

// raisable returns the conditions that may have an alert, by name: of one name, those of agents that have one, then others in turn up to
// [MaxAgents], then one for all that are left. The first of its causes is the one that a condition counts for.
func raisable(s *State, c Judge) (list []holding) {
	for _, d := range c.Measured {
		t := turns{left: slices.DeleteFunc(slices.Clone(c.Conditions), func(o Condition) bool { return o.Name != d.Name }), counts: map[string]int{}}
		slices.SortFunc(t.left, func(a, b Condition) int { return cmp.Compare(a.Agent, b.Agent) })
		free := MaxAgents
		for _, a := range s.Alerts {
			if a.Name == d.Name && a.Agent != Other && a.Agent != "" {
				free--
				t.counts[a.Cause]++
			}
		}
		t.left = slices.DeleteFunc(t.left, func(o Condition) bool {
			_, there := s.Find(o.Key)
			if there {
				list = append(list, holding{o, d})
			}
			return there
		})
		rest := Condition{Key: Key{Name: d.Name, Agent: Other}}
		for len(t.left) > 0 {
			o, nth := t.next(len(rest.Agents) < MaxNamed)
			if o.Agent == "" || free > 0 && nth <= MaxOfCause {
				if o.Agent != "" {
					free--
				}
				list = append(list, holding{o, d})
				continue
			}
			rest.join(o)
		}
		if rest.Holds {
			list = append(list, holding{rest, d})
		}
	}
	return list
}

// turns gives the principals that cause alerts turns, so that nobody can fill what is named with its own.
type turns struct {
	left   []Condition
	counts map[string]int // conditions that were taken, by what caused them
}

// next takes the condition of the cause of which fewest were taken, or any if that makes no difference any more, and says the how manyth of its cause it is. A
// condition with several causes counts for the one with fewest; one with none is always the first of its own.
func (t *turns) next(fair bool) (o Condition, nth int) {
	best, cause := 0, 0
	least := -1
	for i := range t.left {
		n, of := t.fewest(&t.left[i])
		if least < 0 || n < least {
			best, cause, least = i, of, n
		}
		if least == 0 || !fair {
			break
		}
	}
	o = t.left[best]
	t.left = slices.Delete(t.left, best, best+1)
	if o.Agent == "" || len(o.Causes) == 0 {
		o.Causes = nil
		return o, 1
	}
	o.Causes = []string{o.Causes[cause]}
	t.counts[o.Causes[0]]++
	return o, least + 1
}

// fewest returns how many conditions were taken of the cause of a condition of which fewest were, and which of its causes it is.
func (t *turns) fewest(o *Condition) (n, cause int) {
	if o.Agent == "" { // it takes no turn: there is one
		return 0, 0
	}
	for i, c := range o.Causes {
		if taken := t.counts[c]; i == 0 || taken < n {
			n, cause = taken, i
		}
	}
	return n, cause
}

// join adds the condition of one more agent.
func (c *Condition) join(o Condition) {
	if !c.Holds || o.Since.Before(c.Since) {
		c.Since = o.Since
	}
	if !c.Holds || o.Value > c.Value {
		c.Value = o.Value
	}
	c.Holds = true
	c.Number++
	if len(c.Agents) < MaxNamed {
		c.Agents = append(c.Agents, o.Agent)
	}
	c.Handoffs = append(c.Handoffs, o.Handoffs[:min(len(o.Handoffs), MaxHandoffs-len(c.Handoffs))]...)
}
