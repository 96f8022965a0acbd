package trapezetest

import (
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/client"
)

// Completed asserts that the task is completed.
func (c *Chain) Completed() bool {
	c.s.t.Helper()
	if c.Task.State != client.Completed {
		return c.errorf("task %s is %s, not completed", c.Task.ID, c.Task.State)
	}
	return true
}

// Owners asserts which agents held the task, in order.
func (c *Chain) Owners(want ...string) bool {
	c.s.t.Helper()
	if got := c.Holders(); !slices.Equal(got, want) {
		return c.errorf("the task was held by %s; it should have been by %s", list(got), list(want))
	}
	return true
}

// Survived asserts that constraints, facts and decisions reached the last receiver word for word, as they were when they came up:
// those with the given ids or, without ids, all. What the last owner itself came up with was not handed to anybody, and does not
// count.
func (c *Chain) Survived(ids ...string) bool {
	c.s.t.Helper()
	if !c.taken() {
		return false
	}
	var came []Entry // with the first text
	for _, h := range c.Hops {
		for _, e := range h.Added {
			if !slices.ContainsFunc(came, e.same) {
				came = append(came, e)
			}
		}
	}
	ok := true
	for _, id := range ids {
		if !slices.ContainsFunc(came, func(e Entry) bool { return e.ID == id }) {
			ok = c.errorf("no constraint, fact or decision %s was ever handed on", id)
		}
	}
	for _, e := range came {
		if len(ids) > 0 && !slices.Contains(ids, e.ID) || c.arrived(e) {
			continue
		}
		for _, h := range c.Hops {
			for _, l := range h.Lost {
				if l.same(e) {
					ok = c.errorf("hop %d, %s to %s: %s", h.Number, h.From, h.To, l)
				}
			}
		}
	}
	return ok
}

// taken asserts that anybody took the task: what is asserted of all receivers would hold without one.
func (c *Chain) taken() bool {
	c.s.t.Helper()
	if len(c.Hops) == 0 && len(c.Holders()) == 0 {
		return c.errorf("nobody ever took task %s, which is %s", c.Task.ID, c.Task.State)
	}
	return true
}

// arrived reports whether the last receiver was given an entry with the text that it had first.
func (c *Chain) arrived(e Entry) bool {
	last := c.Hops[len(c.Hops)-1]
	got := slices.Concat(last.Kept, last.Added)
	lost := func(l Loss) bool { return l.same(e) }
	return slices.Contains(got, e) && !slices.ContainsFunc(last.Lost, lost)
}

// TokensAtMost asserts that no receiver's prompt had more tokens.
func (c *Chain) TokensAtMost(limit int) bool {
	c.s.t.Helper()
	ok := c.taken()
	for _, h := range c.Hops {
		switch {
		case h.Tokens == 0:
			ok = c.errorf("hop %d, %s to %s: the tokens were not counted: give %s a context window (Agent.With)", h.Number, h.From, h.To, h.To)
		case h.Tokens > limit:
			ok = c.errorf("hop %d, %s to %s: the prompt has %d tokens, of %d", h.Number, h.From, h.To, h.Tokens, limit)
		}
	}
	return ok
}

// NothingParked asserts that no task of the server is in the dead letters.
func (c *Chain) NothingParked() bool {
	c.s.t.Helper()
	for _, t := range c.dead {
		cause := "for a reason that is not listed"
		if t.Parked != nil {
			cause = t.Parked.Cause + ": " + t.Parked.Detail
		}
		c.errorf("task %s, %q, is in the dead letters: %s", t.ID, t.Intent, cause)
	}
	return len(c.dead) == 0
}

// NoRefusals asserts that the scripted agents died of nothing and were refused nothing at this task.
func (c *Chain) NoRefusals() bool {
	c.s.t.Helper()
	remarks := c.remarks()
	for _, r := range remarks {
		c.errorf("%s: %s", r.who, r.text)
	}
	return len(remarks) == 0
}

// OneTrace asserts that one distributed trace spans the whole task: every receiver was given a trace context, and all have the same
// trace id. An agent that calls the server with a context of [client.WithTrace], or over MCP with traceparent in _meta, continues the
// trace; one that does not leaves it as it is.
func (c *Chain) OneTrace() bool {
	c.s.t.Helper()
	ok, first := c.taken(), ""
	for _, h := range c.Hops {
		id := ""
		if parts := strings.Split(h.Trace, "-"); len(parts) == 4 {
			id = parts[1]
		}
		switch {
		case id == "":
			ok = c.errorf("hop %d, %s to %s: the receiver was given no trace context", h.Number, h.From, h.To)
		case first == "":
			first = id
		case id != first:
			ok = c.errorf("hop %d, %s to %s: a new trace %s begins, and trace %s ends", h.Number, h.From, h.To, id, first)
		}
	}
	return ok
}

// A Judge reads the intent of a task and its result, and returns what of the intent the result does not reflect.
type Judge func(intent string, r client.Result) (missing []string)

// ReflectsIntent asserts that the final result reflects the original intent: that the task was completed, that every receiver was
// given the intent byte for byte, and that no judge finds anything missing. Without judges, [Mentions] is asked.
func (c *Chain) ReflectsIntent(judges ...Judge) bool {
	c.s.t.Helper()
	ok := true
	for _, h := range c.Hops {
		if !h.IntentKept {
			ok = c.errorf("hop %d, %s to %s: the receiver was not given the intent as it was", h.Number, h.From, h.To)
		}
	}
	if c.Task.State != client.Completed || c.Task.Result == nil {
		return c.errorf("task %s is %s, and has no result that could reflect its intent", c.Task.ID, c.Task.State)
	}
	if len(judges) == 0 {
		judges = []Judge{Mentions}
	}
	for _, judge := range judges {
		if missing := judge(c.Task.Intent, *c.Task.Result); len(missing) > 0 {
			ok = c.errorf("the result %q does not reflect the intent %q: it lacks %s", text(*c.Task.Result), c.Task.Intent, list(missing))
		}
	}
	return ok
}

func list(names []string) string {
	if len(names) == 0 {
		return "nobody"
	}
	return strings.Join(names, ", ")
}
