package event_test

import (
	"slices"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

func TestSumsOfBudgetsStayWithinBounds(t *testing.T) {
	b := event.Budget{Tokens: 1 << 50, Cost: 1}
	for range 100 {
		b = b.Plus(b)
	}
	if b.Tokens <= 0 || b.Cost <= 0 || (event.Budget{}).Minus(b).Minus(b).Tokens >= 0 {
		t.Errorf("%+v", b)
	}
}

func TestABudgetIsSplitAndNeverIntoNothing(t *testing.T) {
	limited := event.Budget{Tokens: 100}
	for name, c := range map[string]struct {
		left  int64
		asked []int64
		want  []int64 // nil: not enough
	}{
		"equal shares":             {100, []int64{0, 0, 0}, []int64{33, 33, 33}},
		"a share and what is left": {100, []int64{80, 0}, []int64{80, 20}},
		"all that is left":         {50, []int64{50}, []int64{50}},
		"more than is left":        {50, []int64{51}, nil},
		"nothing for the second":   {50, []int64{50, 0}, nil},
		"nothing left":             {0, []int64{0}, nil},
		"overspent":                {-5, []int64{0}, nil},
		"one for each":             {2, []int64{0, 0}, []int64{1, 1}},
	} {
		var asked, want []event.Budget
		for _, n := range c.asked {
			asked = append(asked, event.Budget{Tokens: n, Cost: 7})
		}
		for _, n := range c.want {
			want = append(want, event.Budget{Tokens: n, Cost: 7})
		}
		got, ok := limited.Split(event.Budget{Tokens: c.left}, asked)
		if ok != (c.want != nil) || ok && !slices.Equal(got, want) {
			t.Errorf("%s: %+v %v, want %+v", name, got, ok, want)
		}
	}
}
