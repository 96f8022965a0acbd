//go:build slow

package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/figure"
)

var (
	grouped = regexp.MustCompile(`\bby \(([a-z_, ]+)\)`)
	whole   = regexp.MustCompile(`\b(sum|min|max)\s*\(`)
	legend  = regexp.MustCompile(`\{\{([a-z_]+)\}\}`)
	named   = regexp.MustCompile(`trapeze_[a-z_]+`)
	part    = regexp.MustCompile(`_(bucket|sum|count)$`)
)

// labelsOf returns the labels of the series that a query has.
func labelsOf(expr string) []string {
	labels := []string{"instance"} // one series for each server
	if whole.MatchString(expr) {
		labels = nil
	}
	if m := grouped.FindStringSubmatch(expr); m != nil {
		labels = slices.DeleteFunc(strings.Split(m[1], ", "), func(l string) bool { return l == "le" })
	}
	slices.Sort(labels)
	return slices.Compact(labels)
}

// TestEachSeriesOfTheDashboardIsNamedByItsLegend: and each query is about labels that its figures have, and no panel covers another.
func TestEachSeriesOfTheDashboardIsNamedByItsLegend(t *testing.T) {
	var board struct {
		Panels []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr, LegendFormat, RefID string }

			Description string
		}
	}
	if err := json.Unmarshal([]byte(dashboard()), &board); err != nil {
		t.Fatal(err)
	}
	figures := map[string]*figure.Instrument{}
	for _, i := range figure.Instruments() {
		figures[i.Prometheus()] = i
	}
	type place struct{ x, y int }
	ids, places := map[int]bool{}, map[place]bool{}
	for _, p := range board.Panels {
		if at := (place{p.GridPos.X, p.GridPos.Y}); ids[p.ID] || places[at] || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("%s: its id %d or its place %v is another's", p.Title, p.ID, p.GridPos)
		} else {
			ids[p.ID], places[at] = true, true
		}
		refs := map[string]bool{}
		for _, q := range p.Targets {
			if refs[q.RefID] || q.RefID == "" {
				t.Errorf("%s: two queries are %q", p.Title, q.RefID)
			}
			refs[q.RefID] = true
			var names []string
			for _, m := range legend.FindAllStringSubmatch(q.LegendFormat, -1) {
				names = append(names, m[1])
			}
			slices.Sort(names)
			labels := labelsOf(q.Expr)
			if !slices.Equal(names, labels) {
				t.Errorf("%s: the legend %q does not name the series by %q", p.Title, q.LegendFormat, labels)
			}
			for _, name := range named.FindAllString(q.Expr, -1) {
				i := figures[name]
				if i == nil {
					i = figures[part.ReplaceAllString(name, "")]
				}
				if i != nil && !strings.Contains(p.Description, i.Behind) {
					t.Errorf("%s does not say how to find what is behind %s: %q", p.Title, i.Name, p.Description)
				}
				for _, l := range labels {
					if i == nil || l != "instance" && !slices.Contains(i.Labels, l) {
						t.Errorf("%s: %s has no label %s", p.Title, name, l)
					}
				}
			}
		}
	}
}
