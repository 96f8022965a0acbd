package query

import "strings"

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

// Clauses are FROM and WHERE, with a blank before them.
func (s *Selection) Clauses() string {
	return " FROM " + s.From + " WHERE " + strings.Join(s.where, " AND ")
}
