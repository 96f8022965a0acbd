package event

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestEachPartOfAConstraintSaysWhoSetIt(t *testing.T) {
	most := func(v float64) *float64 { return &v }
	c := Constraint{ID: "c", Kind: ConstraintBudget, Text: "spend little", Max: most(10), Allow: []string{"a", "b"}, TextBy: "operator/x"}.SetBy("agent/ada", false)
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

func TestNewConstraintsArePlainAndDistinct(t *testing.T) {
	fine := Constraint{ID: "Refunds:write_2.a-b", Kind: ConstraintPreference, Text: "no colder", Max: new(float64)}
	*fine.Max = -18
	if err := fine.CheckNew(); err != nil {
		t.Error(err)
	}
	for _, id := range []string{"", "-a", "a b", "a/b", "é", "а", "a\u200b", strings.Repeat("x", 65), "a\x00", "a\x7f", "\xff"} {
		if err := CheckConstraintID(id); refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("%q: %v", id, err)
		}
	}
	others := []Constraint{{ID: "modern-win"}, {ID: "nо‑prod"}, {ID: "ＡＢ"}, {ID: "a\u00adz"}}
	for id, like := range map[string]bool{
		"modem-win": true, "Modern_vvin": true, "modern-w1n": true, "no-prod": true, "ab": true, "az": true, "modern-win": false, "modern": false, "no-product": false,
	} {
		if err := CheckDistinct(id, others); (err != nil) != like {
			t.Errorf("%s: %v", id, err)
		}
	}
	if got := OneLine("a\r\nb\u2028c\u202e\u200bd\x1b e\u200c"); strings.ContainsAny(got, "\r\n\u2028\u202e\u200b\x1b") || !strings.Contains(got, "d e\u200c") {
		t.Errorf("one line: %q", got)
	}
	if len([]rune(lookAlike)) != len([]rune(looksLike)) {
		t.Error("the tables of look-alikes differ in length")
	}
}
