package human

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Time is a time as people read it, on the clock of the reader's browser once its script has run.
func Time(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04:05") + " UTC"
}

// raw matches a time as the texts of the server write it, for programs.
var raw = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)

// Times is a text of the server with the times in it as people read them.
func Times(text string) string {
	return raw.ReplaceAllStringFunc(text, func(at string) string {
		t, err := time.Parse(time.RFC3339, at)
		if err != nil {
			return at
		}
		return Time(t)
	})
}

// ISO is a time for programs.
func ISO(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// Short is the beginning of a text, on one line. Of a text that shows nothing, it says so: a link needs something to press.
func Short(n int, text string) string {
	blank := text != "" && strings.TrimFunc(text, func(r rune) bool { return r == brailleBlank || unicode.IsSpace(r) }) == ""
	if text = strings.Join(strings.Fields(text), " "); blank {
		return "(blank)"
	}
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return text
}

// brailleBlank is no space to Unicode, and looks like one.
const brailleBlank = '\u2800'

// Percent is a share of one.
func Percent(f float64) string { return fmt.Sprintf("%.0f %%", f*100) }

// Seconds is a number of seconds as people read it: 20 ms, 1.5 s, 3 min; of none, a dash.
func Seconds(f float64) string {
	switch {
	case f <= 0:
		return "–"
	case f < 1:
		return fmt.Sprintf("%.0f ms", f*1000)
	case f < 120:
		return fmt.Sprintf("%.1f s", f)
	}
	return fmt.Sprintf("%.0f min", f/60)
}

// Hours is a number of hours as people read it.
func Hours(n int) string { return Span(time.Duration(n) * time.Hour) }

// Lasting is a duration, in the text of the API, as people read it.
func Lasting(text string) string {
	d, err := time.ParseDuration(text)
	if err != nil {
		return text
	}
	return Span(d)
}

// Last is the time before now, in the text of the API, as people read it: last hour, last 5 minutes.
func Last(text string) string { return "last " + strings.TrimPrefix(Lasting(text), "1 ") }

// Span is a duration as people read it: 1 hour, 36 hours, 2 days, 1 minute 30 seconds; and of less than 2 seconds, 1.5 s or 20 ms.
func Span(d time.Duration) string {
	if d < 2*time.Second {
		return Seconds(d.Seconds())
	}
	d = d.Round(time.Second)
	if d > 24*time.Hour && d%(24*time.Hour) == 0 {
		return refusal.Counted(int(d/(24*time.Hour)), "day")
	}
	var parts []string
	for _, u := range []struct {
		of   time.Duration
		name string
	}{{time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		if n := d / u.of; n > 0 {
			parts, d = append(parts, refusal.Counted(int(n), u.name)), d%u.of
		}
	}
	return strings.Join(parts[:min(len(parts), 2)], " ")
}

// parked is what a task that is parked is to people: the one state that has a plural.
const parked = "dead letter"

// Label is a value of a closed set as words.
func Label(value any) string {
	text := strings.ReplaceAll(fmt.Sprint(value), "_", " ")
	if text == "parked" {
		return parked
	}
	return text
}

// Counted is how many tasks are in a state: "2 dead letters", "2 pending".
func Counted(n int, state any) string {
	label := Label(state)
	if label == parked {
		return refusal.Counted(n, label)
	}
	return strconv.Itoa(n) + " " + label
}

// Heading is the heading of the tasks in a state: "Dead letters", "Pending".
func Heading(state any) string {
	label := Label(state)
	if label == parked {
		label += "s"
	}
	return strings.ToUpper(label[:1]) + label[1:]
}

// Fate is what became of an entry on the way from one envelope to another.
func Fate(fate string) string {
	if fate == "omitted" {
		return "left out"
	}
	return fate
}

// Part is a part of a text; code was between backticks.
type Part struct {
	Text string
	Code bool
}

// Ticks takes a text apart at its backticks.
func Ticks(text string) (parts []Part) {
	code := false
	for t := range strings.SplitSeq(text, "`") {
		parts = append(parts, Part{t, code})
		code = !code
	}
	return parts
}

// Headline is the first sentence of a text that says more in those after it: see [Details].
func Headline(text string) string {
	first, _, more := strings.Cut(text, ". ")
	if more {
		first += "."
	}
	return first
}

// Details are the sentences of a text after its [Headline].
func Details(text string) string {
	_, rest, _ := strings.Cut(text, ". ")
	return rest
}
