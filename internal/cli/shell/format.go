package shell

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/visible"
)

// OneLine makes text of others safe to print on a line: hidden characters are shown by their number, as in prompts.
func OneLine(s string) string { return oneLine.Replace(visible.Document(s)) }

var oneLine = strings.NewReplacer("\n", " ", "\t", " ")

// Clip shortens text to n characters.
func Clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// Clock formats a time in the local time zone, without the date if it is today. It is empty for the zero time.
func Clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	t = t.Local()
	if y, m, d := t.Date(); sameDay(y, int(m), d) {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04:05")
}

func sameDay(y, m, d int) bool {
	ny, nm, nd := time.Now().Date()
	return y == ny && m == int(nm) && d == nd
}

// Number formats a number; empty for 0.
func Number[T ~int | ~int64 | ~uint64](n T) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// Span formats a duration, such as 10m or 1h30m; empty for 0.
func Span(d client.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// Names formats a list.
func Names(list []string) string { return strings.Join(list, ", ") }

// Seen describes when the server last had a call of an agent.
func Seen(a client.Agent) string {
	ago := time.Since(a.Seen).Truncate(time.Minute)
	switch {
	case a.Seen.IsZero():
		return "not since the server started"
	case ago <= 0:
		return "now"
	}
	return Span(client.Duration(ago)) + " ago"
}

// Principal names a principal as the answers of the server do: an agent by its bare name.
func Principal(role client.Role, name string) string { return event.Bare(string(role) + "/" + name) }
