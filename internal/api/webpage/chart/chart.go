package chart

import (
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/client/admin"
)

// Line is one figure in time, as a line. The numbers behind it are in a table.
type Line struct {
	Name string
	Unit string // "" or "s"
	Path string // of an SVG with a width of 100 and a height of 30; empty: there is no point
	Last float64
	Most float64
}

// Of are the figures of a span, as lines.
func Of(s admin.Stats) []Line {
	var ended, failed, p50, p95 []float64
	for _, b := range s.Series {
		ended, failed = append(ended, float64(b.Ended)), append(failed, float64(b.Failed))
		p50, p95 = append(p50, b.P50), append(p95, b.P95)
	}
	return []Line{lineOf("Handoffs that ended", "", ended), lineOf("Handoffs that failed", "", failed), lineOf("Time until accepted, p50", "s", p50), lineOf("Time until accepted, p95", "s", p95)}
}

// lineOf draws a figure. A time of 0 s is none: nothing was accepted then, and the line has a gap.
func lineOf(name, unit string, points []float64) Line {
	c := Line{Name: name, Unit: unit}
	for _, v := range points {
		c.Most = max(c.Most, v)
	}
	var path strings.Builder
	gap := true
	for i, v := range points {
		if unit != "" && v == 0 {
			gap = true
			continue
		}
		command := "L"
		if gap {
			command = "M"
		}
		y := 29.0
		if c.Most > 0 {
			y = 29 - 28*v/c.Most
		}
		fmt.Fprintf(&path, "%s%.1f %.1f", command, 100*float64(i)/float64(max(len(points)-1, 1)), y)
		if gap {
			path.WriteString("h-2") // to be seen if nothing follows
		}
		c.Last, gap = v, false
	}
	c.Path = path.String()
	return c
}
