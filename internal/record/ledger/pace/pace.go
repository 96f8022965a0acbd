package pace

import "time"

const (
	each = 500 * time.Microsecond
	most = 16 * time.Millisecond // small beside what a call takes where so many wait
)

// After returns how long to wait after a round for so many: nothing after one for a single caller, who may well be the only one.
func After(n int) time.Duration { return time.Duration(min(max(n-1, 0), int(most/each))) * each }
