package query

import (
	"encoding/json"
	"strings"
	"time"
)

// Selection is what a query reads: tables, and the conditions that all hold, with their arguments.
type Selection struct {
	From string
	Args []any

	where []string
}

// Also adds a condition.
func (s *Selection) Also(condition string, args ...any) {
	s.where, s.Args = append(s.where, condition), append(s.Args, args...)
}

// Is adds that a column has a value, unless that is empty.
func (s *Selection) Is(column, value string) {
	if value != "" {
		s.Also(column+" = ?", value)
	}
}

// In adds that a column has one of some values.
func (s *Selection) In(column string, values []string) {
	list, _ := json.Marshal(values) //nolint:errchkjson // of text
	s.Also(column+" IN (SELECT value FROM json_each(?))", string(list))
}

// Sortable is a time as text that sorts by time. With its Z, a time of a whole second would come after those of its fractions.
func Sortable(t time.Time) string { return strings.TrimSuffix(t.UTC().Format(time.RFC3339Nano), "Z") }

// Clauses are FROM and WHERE, with a blank before them.
func (s *Selection) Clauses() string {
	return " FROM " + s.From + " WHERE " + strings.Join(s.where, " AND ")
}
