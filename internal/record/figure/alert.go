package figure

import (
	"fmt"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/alert"
)

// Alert is the definition of an alert as a rule for Prometheus. It is raised for each workspace, or agent, by itself.
type Alert struct {
	alert.Definition
	Expr string // in Prometheus' language: not empty while the alert is raised
}

// Alerts lists the rules of all alerts, with their default thresholds.
func Alerts() []Alert {
	var list []Alert
	for _, d := range alert.Definitions() {
		list = append(list, Alert{Definition: d, Expr: expression(&d)})
	}
	return list
}

// ByName returns the instrument of a name; nil if there is none.
func ByName(name string) *Instrument {
	all := Instruments()
	i := slices.IndexFunc(all, func(i *Instrument) bool { return i.Name == name })
	if i < 0 {
		return nil
	}
	return all[i]
}

// expression writes what the server measures for a definition (see [Tally.Conditions]) in Prometheus' language.
func expression(d *alert.Definition) string {
	of, window, by := ByName(d.Figure), promDuration(d.Window), "workspace"
	if d.Subject == alert.Agent {
		by = "workspace, agent"
	}
	value := of.Prometheus()
	switch d.Measure {
	case alert.Increase:
		value = increase(of.Prometheus(), window, by)
	case alert.Share:
		failed, ended := increase(of.Prometheus(), window, by), increase(ByName(d.Of).Prometheus(), window, by)
		if d.Apart {
			failed, ended = without(failed, d, 0), without(ended, d, 1)
		}
		value = fmt.Sprintf("(%s >= %g) / (%s >= %g)", failed, d.Least, ended, d.Few)
	case alert.Average:
		return fmt.Sprintf("%s %s %g%s", averageOfFew(d, of, window, by), d.Compare, d.Threshold, least(d, of, window, by))
	case alert.Rise:
		return fmt.Sprintf("%s %s %g * %s and %s >= %g and %s >= %g", average(of, window), d.Compare, d.Threshold, average(of, promDuration(alert.Day)),
			average(of, window), d.Few, increase(of.Prometheus()+"_count", window, by), d.Least)
	case alert.Present:
		if d.Only != "" {
			value = fmt.Sprintf("sum by (workspace) (%s{%s})", of.Prometheus(), d.Only)
		}
	}
	expr := fmt.Sprintf("%s %s %g", value, d.Compare, d.Threshold)
	if to, ok := alert.Find(d.Yields); ok {
		expr += fmt.Sprintf(" unless on () %s", expression(&to))
	}
	return expr
}

// averageOfFew is the average of a histogram over a time, if it got as many values as a definition asks for.
func averageOfFew(d *alert.Definition, of *Instrument, window, by string) string {
	count := increase(of.Prometheus()+"_count", window, by)
	if d.Apart { // what is right
		right := fmt.Sprintf("(%s - (%s - %s))", increase(of.Prometheus()+"_sum", window, by), leftOut(d, 1), leftOut(d, 0))
		return fmt.Sprintf("%s / (%s >= %g)", right, without(count, d, 1), max(d.Few, 1))
	}
	return fmt.Sprintf("(%s and %s >= %g)", average(of, window), count, max(d.Few, 1))
}

// least is the condition that as many values are in the buckets below the last as a definition asks for; empty if it asks for none.
func least(d *alert.Definition, of *Instrument, window, by string) string {
	if d.Least == 0 {
		return ""
	}
	below := fmt.Sprintf("%s_bucket{le=\"%g\"}", of.Prometheus(), of.Bounds[len(of.Bounds)-1])
	return fmt.Sprintf(" and %s >= %g", increase(below, window, by), d.Least)
}

// without is what an increase is without what a definition leaves out of it: 0 of what went wrong, 1 of all.
func without(increase string, d *alert.Definition, which int) string {
	return fmt.Sprintf("(%s - %s)", increase, leftOut(d, which))
}

func leftOut(d *alert.Definition, which int) string {
	return fmt.Sprintf("sum by (workspace) (%s{severity=%q})", excesses[d.Figure][which].Prometheus(), d.Severity)
}

// promDuration writes a duration of whole minutes, hours or days as Prometheus does.
func promDuration(d time.Duration) string {
	switch {
	case d%alert.Day == 0:
		return fmt.Sprintf("%dd", d/alert.Day)
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dm", d/time.Minute)
}

// increase is what a counter gained in a time, by labels. If the server was scraped before that time and the counter was not there, it was 0. If nothing was
// scraped then, by a new Prometheus or in a gap, the first point since counts: what the counter had is of before.
func increase(counter, window, by string) string {
	return fmt.Sprintf("(sum by (%[4]s) (%[1]s) - (sum by (%[4]s) (%[1]s offset %[2]s) or sum by (%[4]s) (%[1]s) * 0 and on () (%[3]s offset %[2]s) "+
		"or min_over_time(sum by (%[4]s) (%[1]s)[%[2]s:1m])))", counter, window, ByName("trapeze.process.memory").Prometheus(), by)
}

// average is the average of a histogram over a time, by workspace.
func average(i *Instrument, window string) string {
	return fmt.Sprintf("(sum by (workspace) (rate(%[1]s_sum[%[2]s])) / sum by (workspace) (rate(%[1]s_count[%[2]s])))", i.Prometheus(), window)
}
