package show

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/client"
)

// ConstraintsOf are the constraints that bind a task now, as a model reads them: "lang (format, should, only de en, by ann) Answer in German.".
func ConstraintsOf(t client.Task) (rules []string) {
	for _, c := range t.Constraints {
		about := []string{string(c.Kind)}
		if !c.Hard {
			about = append(about, "should")
		}
		if c.Max != nil {
			about = append(about, "at most "+strconv.FormatFloat(*c.Max, 'f', -1, 64))
		}
		if c.Allow != nil {
			about = append(about, "only "+cmp.Or(strings.Join(c.Allow, " "), "nothing"))
		}
		about = append(about, "by "+cmp.Or(strings.TrimPrefix(c.Origin, "agent/"), "nobody known"))
		if c.Added {
			about = append(about, "added by an agent: the others win")
		}
		rules = append(rules, c.ID+" ("+strings.Join(about, ", ")+") "+c.Text)
	}
	return rules
}
