package drift

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/visible"
)

const legend = "= kept  ~ changed  o omitted  - dropped  + added\n"

// Table formats a report as plain text: a line for each hop, a line for each lost or changed entry, and the retention. Text
// of other authors is quoted and clipped, with invisible characters shown.
func Table(r Report) string {
	if len(r.Hops) == 0 {
		return "There is no hop to compare: the task has not moved, or you may read none of its envelopes.\n"
	}
	rows := [][]string{{"hop", "from", "to", "intent", "facts", "decisions", "constraints", "references", "tokens", "used"}}
	for _, h := range r.Hops {
		rows = append(rows, []string{
			strconv.Itoa(h.Number), name(h.From), receivers(h.To), intent(h.IntentKept),
			h.Facts.String(), h.Decisions.String(), h.Constraints.String(), h.References.String(), tokens(h), used(h),
		})
	}
	var b strings.Builder
	align(&b, rows)
	b.WriteString(legend)
	for _, h := range r.Hops {
		h.details(&b)
	}
	b.WriteString("\n")
	r.Retention.table(&b)
	return b.String()
}

// align writes rows in columns as wide as their widest cell.
func align(b *strings.Builder, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		last := len(row) - 1
		for i, cell := range row[:last] {
			b.WriteString(cell + strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell)+2))
		}
		b.WriteString(row[last] + "\n")
	}
}

// String returns the counts, like "=3 ~1 -1 +2"; a dash if there are no entries.
func (c Changes) String() string {
	var parts []string
	for _, n := range []struct {
		sign  string
		count int
	}{{"=", len(c.Kept)}, {"~", len(c.Changed)}, {"o", len(c.Omitted)}, {"-", len(c.Dropped)}, {"+", len(c.Added)}} {
		if n.count > 0 {
			parts = append(parts, n.sign+strconv.Itoa(n.count))
		}
	}
	if parts == nil {
		return "–"
	}
	return strings.Join(parts, " ")
}

func (h Hop) details(b *strings.Builder) {
	if !h.IntentKept {
		fmt.Fprintf(b, "hop %d  intent was changed\n", h.Number)
	}
	for _, l := range h.LostTexts {
		fmt.Fprintf(b, "hop %d  %s %slost%s: %s\n", h.Number, name(l.ID), l.became(), because(l.Why), l.texts())
	}
	for _, ch := range h.ReplacedTexts {
		fmt.Fprintf(b, "hop %d  %s %s by %s: %s → %s\n", h.Number, name(ch.ID), ch.How, name(ch.By), quote(ch.Before), quote(ch.After))
	}
	for k := range kinds {
		c := h.kinds()[entryKind(k)]
		singular := strings.TrimSuffix(entryKind(k).String(), "s")
		for _, l := range c.Dropped {
			fmt.Fprintf(b, "hop %d  %s %s %sdropped: %s\n", h.Number, singular, l.ids(), l.became(), l.texts())
		}
		for _, l := range c.Omitted {
			fmt.Fprintf(b, "hop %d  %s %s %somitted%s: %s\n", h.Number, singular, l.ids(), l.became(), because(l.Why), l.texts())
		}
		for _, ch := range c.Changed {
			was, by := "", ""
			if ch.Was != "" {
				was = name(ch.Was) + " → "
			}
			if ch.By != "" {
				by = " by " + name(ch.By)
			}
			if ch.TightenedBy != "" {
				by += ", what " + name(ch.TightenedBy) + " tightened"
			}
			if ch.How == Lifted && ch.After == "" {
				fmt.Fprintf(b, "hop %d  %s %s %s%s: %s\n", h.Number, singular, name(ch.ID), ch.How, by, quote(ch.Before))
				continue
			}
			fmt.Fprintf(b, "hop %d  %s %s%s %s%s: %s → %s\n", h.Number, singular, was, name(ch.ID), ch.How, by, quote(ch.Before), quote(ch.After))
		}
	}
}

// ids names the entry, after the one that it superseded.
func (l Lost) ids() string {
	if l.Was == "" {
		return name(l.ID)
	}
	return name(l.Was) + " → " + name(l.ID)
}

// became says what the sender made of the entry before it was lost: "superseded by bob, ".
func (l Lost) became() string {
	switch {
	case l.How == "":
		return ""
	case l.By == "":
		return string(l.How) + ", "
	}
	return string(l.How) + " by " + name(l.By) + ", "
}

// texts is the text of the entry, after the earlier one.
func (l Lost) texts() string {
	if l.How == "" {
		return quote(l.Text)
	}
	return quote(l.Before) + " → " + quote(l.Text)
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + name(why) + ")"
}

func (r Retention) table(b *strings.Builder) {
	rows := [][]string{{"retention", "rate", "surviving", "of", "verbatim", "omitted", "replaced"}}
	for _, kind := range []struct {
		name  string
		share Kept
	}{
		{"overall", r.Overall},
		{"intent", r.Intent},
		{"facts", r.Facts},
		{"decisions", r.Decisions},
		{"constraints", r.Constraints},
		{"references", r.References},
	} {
		s := kind.share
		rows = append(rows, []string{
			kind.name, fmt.Sprintf("%d %%", percent(s.Rate)), strconv.Itoa(s.Surviving), strconv.Itoa(s.Introduced),
			strconv.Itoa(s.Verbatim), strconv.Itoa(s.Omitted), strconv.Itoa(s.Replaced),
		})
	}
	align(b, rows)
}

// percent rounds down: it is 100 only if nothing is lost.
func percent(rate float64) int { return int(rate*100 + 1e-9) }

func intent(kept bool) string {
	if kept {
		return "="
	}
	return "~"
}

func tokens(h Hop) string {
	if h.Tokens == 0 {
		return "–"
	}
	return strconv.Itoa(h.Tokens)
}

func used(h Hop) string {
	if h.Budget == 0 {
		return "–"
	}
	return fmt.Sprintf("%d %%", percent(h.Utilisation))
}

func receivers(to []string) string {
	switch len(to) {
	case 0:
		return "–"
	case 1:
		return name(to[0])
	}
	return name(to[0]) + " +" + strconv.Itoa(len(to)-1)
}

// name shows an id on one line. Names of valid envelopes are printable; a chain may come from anywhere.
func name(s string) string {
	if envelope.ValidDigest(s) {
		return s[:len("sha256:")+12] + "…"
	}
	q := quoted(clip(s, 40))
	return q[1 : len(q)-1]
}

func quote(s string) string { return quoted(clip(s, 80)) }

// quoted is a text in quotes, with what is hidden in it escaped; joiners that its language needs stay as they are.
func quoted(s string) string {
	odd := func(r rune) bool { return r != '\n' && r != '\t' && !visible.Hidden(r) && !unicode.IsGraphic(r) }
	if visible.Document(s) != s || strings.ContainsFunc(s, odd) {
		return strconv.QuoteToGraphic(s)
	}
	return `"` + escapes.Replace(s) + `"`
}

var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`)

func clip(s string, n int) string {
	runes := 0
	for i := range s {
		if runes++; runes > n {
			return s[:i] + "…"
		}
	}
	return s
}
