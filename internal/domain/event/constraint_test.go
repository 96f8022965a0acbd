package event_test

import (
	"math"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestAConstraintOnlyTightens(t *testing.T) {
	most := func(v float64) *float64 { return &v }
	base := event.Constraint{ID: "c", Kind: event.ConstraintBudget, Text: "spend little", Max: most(10), Allow: []string{"a", "b"}}
	for name, c := range map[string]struct {
		change func(*event.Constraint)
		tight  bool
	}{
		"the same":                 {func(*event.Constraint) {}, true},
		"a smaller maximum":        {func(c *event.Constraint) { c.Max = most(9) }, true},
		"a larger maximum":         {func(c *event.Constraint) { c.Max = most(11) }, false},
		"no maximum":               {func(c *event.Constraint) { c.Max = nil }, false},
		"fewer allowed":            {func(c *event.Constraint) { c.Allow = []string{"b"} }, true},
		"none allowed":             {func(c *event.Constraint) { c.Allow = []string{} }, true},
		"others allowed":           {func(c *event.Constraint) { c.Allow = []string{"c"} }, false},
		"anything allowed":         {func(c *event.Constraint) { c.Allow = nil }, false},
		"hard":                     {func(c *event.Constraint) { c.Hard = true }, true},
		"other words":              {func(c *event.Constraint) { c.Text = "spend much" }, false},
		"about something else":     {func(c *event.Constraint) { c.Kind = event.ConstraintFormat }, false},
		"a maximum that is no sum": {func(c *event.Constraint) { c.Max = most(math.NaN()) }, false},
	} {
		k := base
		c.change(&k)
		if got := k.Check() == nil && k.Tightens(base); got != c.tight {
			t.Errorf("%s: %v, want %v", name, got, c.tight)
		}
	}
	if (event.Constraint{Allow: []string{}}).Equal(event.Constraint{}) {
		t.Error("nothing allowed is taken for anything allowed")
	}
	hard := base
	hard.Hard = true
	if base.Tightens(hard) {
		t.Error("soft is tighter than hard")
	}
}

func TestConstraintsAreCapped(t *testing.T) {
	var many []event.Constraint
	for range event.MaxConstraints + 1 {
		many = append(many, event.Constraint{ID: "c" + strings.Repeat("x", len(many)%60) + string(rune('a'+len(many)/60)), Kind: event.ConstraintFormat, Text: "x"})
	}
	if err := event.CheckConstraints(many); refusal.CodeOf(err) != refusal.TooLarge {
		t.Errorf("%d constraints: %v", len(many), err)
	}
	if err := event.CheckConstraints(many[:3]); err != nil {
		t.Error(err)
	}
	if err := event.CheckConstraints([]event.Constraint{many[0], many[0]}); refusal.CodeOf(err) != refusal.Invalid {
		t.Errorf("the same twice: %v", err)
	}
}
