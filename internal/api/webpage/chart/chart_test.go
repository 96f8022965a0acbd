package chart

import "testing"

// A time has a gap where nothing was accepted, and a count is 0 there.
func TestALineHasAGapWhereThereIsNoTime(t *testing.T) {
	points := []float64{0, 2, 0, 1, 2}
	for unit, want := range map[string]string{"s": "M25.0 1.0h-2M75.0 15.0h-2L100.0 1.0", "": "M0.0 29.0h-2L25.0 1.0L50.0 29.0L75.0 15.0L100.0 1.0"} {
		if c := lineOf("a figure", unit, points); c.Path != want || c.Last != 2 || c.Most != 2 {
			t.Errorf("%+v", c)
		}
	}
}
