package event

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// CheckDeadline refuses (invalid) a deadline that has passed or is more than ten years ahead. The zero time is no deadline.
func CheckDeadline(deadline, now time.Time) error {
	if deadline.IsZero() || deadline.After(now) && !deadline.After(now.Add(10*365*24*time.Hour)) {
		return nil
	}
	return refusal.New(refusal.Invalid, "use a time from now to ten years ahead", "the deadline %s is out of range",
		deadline.Format(time.RFC3339))
}
