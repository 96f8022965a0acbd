package alert

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Severity is how soon people should look at an alert. The set is closed.
type Severity string

// The severities.
const (
	Info     Severity = "info"     // worth a look
	Warning  Severity = "warning"  // look today
	Critical Severity = "critical" // look now
)

// Severities lists every severity, the mildest first.
var Severities = event.NewSet("a severity", Info, Warning, Critical)

// Measure is how the value of an alert is taken from its figure. The set is closed.
type Measure string

// The measures.
const (
	Present  Measure = "present"  // the figure as it is
	Increase Measure = "increase" // what a counter gained in the window
	Share    Measure = "share"    // what a counter gained in the window, divided by what the one in Of gained
	Average  Measure = "average"  // the average of what a histogram got in the window
	Rise     Measure = "rise"     // that average, divided by the average of the day
)

// Comparison is how a value is compared with a threshold. The set is closed.
type Comparison string

// The comparisons.
const (
	Above   Comparison = ">"
	Below   Comparison = "<"
	AtLeast Comparison = ">="
)

// Holds reports whether a value is beyond a threshold.
func (c Comparison) Holds(value, threshold float64) bool {
	switch c {
	case Above:
		return value > threshold
	case Below:
		return value < threshold
	case AtLeast:
		return value >= threshold
	}
	return false
}

// Subject is what an alert is raised for, each by itself. The set is closed.
type Subject string

// The subjects.
const (
	Workspace Subject = "workspace"
	Agent     Subject = "agent"  // of a workspace
	Server    Subject = "server" // in the workspace default alone
)

// Unit is how people read a value and a threshold. The set is closed.
type Unit string

// The units.
const (
	Count   Unit = "count"
	Percent Unit = "percent" // the value is a share from 0 to 1
	Seconds Unit = "seconds"
)

// Day is the time that a [Rise] is compared with, and the longest window.
const Day = 24 * time.Hour

// Definition is one alert: what is measured, from which value on it is raised, and what people do about it. The zero Definition is none.
type Definition struct {
	Name     string // also in the policy file; see [Definition.Prometheus]
	Severity Severity
	Figure   string // the instrument
	Of       string // the instrument that a Share is of
	Only     string // only points with these labels, in Prometheus' language; empty: all
	Measure  Measure
	Compare  Comparison
	Subject  Subject
	Unit     Unit

	Threshold     float64
	Lowest        float64       // threshold that a policy may set
	Highest       float64       // threshold that a policy may set; equal to Lowest: it cannot be changed
	Window        time.Duration // of a measure that needs one
	For           time.Duration // it must hold so long; 0: once
	Least         float64       // of a Share: what the figure gained must be at least that much, so that a single failure among few is none; of an Average of shares: so many must be below 1; of a Rise: so many tasks must have ended; 0: any
	Few           float64       // what Of gained, the average that rises, or the number of values of an average, must be at least that much; 0: any
	Milder        string        // the alert about the same figure with a milder threshold
	Yields        string        // the alert of the server that explains this one: while it holds, this one is not raised
	Apart         bool          // it is also measured without what each agent sent: the successes of one hide nobody's failures
	Spread        bool          // of what one agent sends, or is to receive, no more counts than of all others together, so that none causes it alone
	meaning, todo string        // see Meaning and Do
	command       command
}

// Prometheus is the name of the alert in Prometheus: TrapezeHandoffFailed for handoff-failed.
func (d *Definition) Prometheus() string {
	var b strings.Builder
	b.WriteString("Trapeze")
	for word := range strings.SplitSeq(d.Name, "-") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// Meaning says in one sentence what is wrong, with the threshold and the window of the definition.
func (d *Definition) Meaning() string {
	return strings.NewReplacer("{threshold}", d.Unit.Text(d.Threshold), "{least}", number(d.Least), "{few}", number(d.Few), "{window}", strings.TrimPrefix(span(d.Window), "1 ")).Replace(d.meaning)
}

// Do says in sentences what people do about it.
func (d *Definition) Do() string { return d.todo }

// Limit writes the threshold with the comparison, as people read it: "> 0.5 %".
func (d *Definition) Limit() string { return string(d.Compare) + " " + d.Unit.Text(d.Threshold) }

// Fixed reports whether a policy cannot change the threshold.
func (d *Definition) Fixed() bool { return d.Lowest == d.Highest }

// Lasting reports whether the alert can be made to wait until it has held for a time.
func (d *Definition) Lasting() bool {
	return d.For > 0 || d.Measure == Share || d.Measure == Average || d.Measure == Rise
}

// Text writes a value as people read it: "0.5 %", "1 hour" or "3".
func (u Unit) Text(v float64) string {
	switch u {
	case Percent:
		return number(100*v) + " %"
	case Seconds:
		return span(time.Duration(v * float64(time.Second)))
	case Count:
	}
	return number(v)
}

// number writes a number with at most two digits after the point.
func number(v float64) string {
	text := strconv.FormatFloat(v, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// span writes a duration in words, if it is a few whole units: "90 minutes", "1 day". Others are like "25h7m38s".
func span(d time.Duration) string {
	d = d.Round(time.Second)
	for _, u := range []struct {
		of   time.Duration
		name string
	}{{Day, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		switch {
		case d == u.of:
			return "1 " + u.name
		case d > u.of && d%u.of == 0 && (u.of != time.Minute || d < 2*time.Hour):
			return fmt.Sprintf("%d %ss", d/u.of, u.name)
		}
	}
	return event.Duration(d).String()
}

// Find returns the definition of a name, with its defaults; ok is false if there is none.
func Find(name string) (d Definition, ok bool) {
	all := Definitions()
	i := slices.IndexFunc(all, func(d Definition) bool { return d.Name == name })
	if i < 0 {
		return Definition{}, false
	}
	return all[i], true
}

// Names lists the names of all alerts, in the order of [Definitions].
func Names() []string {
	var list []string
	for _, d := range Definitions() {
		list = append(list, d.Name)
	}
	return list
}
