package page

import (
	"cmp"

	"github.com/trapezehq/trapeze/internal/record/view"
)

// Limit is how many items a list gives: the usual number where limit is 0. It refuses (invalid) a limit out of range.
func Limit(limit, usual int) (int, error) { return cmp.Or(limit, usual), view.CheckLimit(limit) }
