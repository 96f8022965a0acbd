package page

import (
	"cmp"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// Limit is how many items a list gives: the usual number where limit is 0. It refuses (invalid) a limit out of range.
func Limit(limit, usual int) (int, error) {
	if limit < 0 || limit > view.MaxPage {
		return 0, refusal.New(refusal.Invalid, "use 1 to 500", "a limit of %d is out of range", limit).With("field", "limit")
	}
	return cmp.Or(limit, usual), nil
}
