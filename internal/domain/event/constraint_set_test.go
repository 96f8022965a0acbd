package event_test

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestEachPartOfAConstraintSaysWhoSetIt(t *testing.T) {
	most := func(v float64) *float64 { return &v }
	c := event.Constraint{ID: "c", Kind: event.ConstraintBudget, Text: "spend little", Max: most(10), Allow: []string{"a", "b"}, TextBy: "operator/x"}.SetBy("agent/ada", false)
	if c.Origin != "agent/ada" || c.TextBy != "" {
		t.Errorf("set: %+v", c)
	}
	next := c
	next.Max = most(5)
	next = next.TightenedBy(c, "agent/ben", false)
	if next.Origin != "agent/ada" || next.MaxBy != "agent/ben" || next.AllowBy != "" {
		t.Errorf("tightened by another: %+v", next)
	}
	last := next
	last.Allow = []string{"a"}
	last = last.TightenedBy(next, "operator/ann", true)
	if last.Origin != "operator/ann" || last.TextBy != "agent/ada" || last.MaxBy != "agent/ben" || last.AllowBy != "" {
		t.Errorf("tightened by an operator: %+v", last)
	}
	own := next
	own.Max = most(1)
	if own = own.TightenedBy(next, "agent/ada", false); own.MaxBy != "" {
		t.Errorf("tightened by its setter: %+v", own)
	}
}

func TestAReorderedListChangesNoSetter(t *testing.T) {
	c := event.Constraint{ID: "c", Kind: event.ConstraintFormat, Text: "in these", Allow: []string{"a", "b"}}.SetBy("operator/ann", false)
	next := c
	next.Allow = []string{"b", "a"}
	if next = next.TightenedBy(c, "agent/ben", false); !next.Equal(c) || next.AllowBy != "" {
		t.Errorf("%+v", next)
	}
	next.Allow = []string{"b"}
	if next = next.TightenedBy(c, "agent/ben", false); next.AllowBy != "agent/ben" || next.Origin != "operator/ann" {
		t.Errorf("%+v", next)
	}
}

func TestAChildInheritsOnlyWhatItsParentSet(t *testing.T) {
	most := func(v float64) *float64 { return &v }
	k := event.Constraint{ID: "c", Kind: event.ConstraintBudget, Text: "euros", Max: most(10), Origin: "agent/ben", Added: true}
	copied := func(change func(*event.Constraint)) event.Constraint {
		c := k
		c.Inherited = true
		change(&c)
		return c
	}
	for what, c := range map[string]struct {
		event.Constraint
		is bool
	}{
		"as it is":                       {copied(func(*event.Constraint) {}), true},
		"under another id":               {copied(func(c *event.Constraint) { c.ID = "parent.parent.c" }), true},
		"tightened in the child":         {copied(func(c *event.Constraint) { c.Max = most(5) }), true},
		"an operator's since":            {copied(func(c *event.Constraint) { c.Origin, c.TextBy, c.Added = "operator/ann", "agent/ben", false }), false},
		"set in the child":               {copied(func(c *event.Constraint) { c.Inherited = false }), false},
		"another text":                   {copied(func(c *event.Constraint) { c.Text = "dollars" }), false},
		"another id":                     {copied(func(c *event.Constraint) { c.ID = "d" }), false},
		"a requester's, looser":          {copied(func(c *event.Constraint) { c.Max, c.Added = most(20), false }), true},
		"a requester's, tightened since": {copied(func(c *event.Constraint) { c.Max, c.Added = most(5), false }), false},
	} {
		if got := c.InheritsFrom(k); got != c.is {
			t.Errorf("%s: %v", what, got)
		}
	}
	old := copied(func(*event.Constraint) {}) // the child has it as ben set it; in the parent, an operator has tightened it
	k.Max, k.Origin, k.TextBy, k.Added = most(5), "operator/ann", "agent/ben", false
	if !old.InheritsFrom(k) {
		t.Error("the first setter's")
	}
}

func TestNewConstraintsArePlainAndDistinct(t *testing.T) {
	fine := event.Constraint{ID: "Refunds:write_2.a-b", Kind: event.ConstraintPreference, Text: "no colder", Max: new(float64)}
	*fine.Max = -18
	if err := fine.CheckNew(); err != nil {
		t.Error(err)
	}
	for _, id := range []string{"", "-a", "a b", "a/b", "é", "а", "a\u200b", strings.Repeat("x", 65), "a\x00", "a\x7f", "\xff"} {
		if err := event.CheckConstraintID(id); refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("%q: %v", id, err)
		}
	}
	others := []event.Constraint{{ID: "modern-win"}, {ID: "nо‑prod"}, {ID: "ＡＢ"}, {ID: "a\u00adz"}}
	for id, like := range map[string]bool{
		"modem-win": true, "Modern_vvin": true, "modern-w1n": true, "no-prod": true, "ab": true, "az": true, "modern-win": false, "modern": false, "no-product": false,
		"modernwin": true, "modern-win.": true, "mo-dern:win_-": true, "noprod": true, "a.b": true, "a-c": false,
	} {
		if err := event.CheckDistinct(id, others); (err != nil) != like {
			t.Errorf("%s: %v", id, err)
		}
	}
	if got := event.OneLine("a\r\nb\u2028c\u202e\u200bd\x1b e\u200c"); strings.ContainsAny(got, "\r\n\u2028\u202e\u200b\x1b") || !strings.Contains(got, "d e\u200c") {
		t.Errorf("one line: %q", got)
	}
}

func TestARefusalToLoosenAConstraintSaysWhatItHas(t *testing.T) {
	most, more := 100.0, 200.0
	old := event.Constraint{ID: "cost", Kind: event.ConstraintBudget, Text: "euros", Hard: true, Max: &most, Allow: []string{"a"}, Origin: "agent/ada"}
	for want, change := range map[string]func(c *event.Constraint){
		`it is budget: "euros"`:             func(c *event.Constraint) { c.Kind = event.ConstraintFormat },
		`is budget: "euros"`:                func(c *event.Constraint) { c.Text = "dollars" },
		`limits are must hold, at most 100`: func(c *event.Constraint) { c.Hard = false },
		`at most 100, only a`:               func(c *event.Constraint) { c.Max = &more },
		`must hold, at most 10`:             func(c *event.Constraint) { c.Allow = nil },
	} {
		c := old
		c.Origin = ""
		change(&c)
		if err := c.MayTighten(old, "agent/ben", true); refusal.CodeOf(err) != refusal.Conflict || !strings.Contains(err.Error(), "cannot be loosened or reworded: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
