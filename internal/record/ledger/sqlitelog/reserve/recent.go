package reserve

import (
	"sync"
	"time"
)

const (
	// plenty is the free space, in bytes, that nothing uses up within recently.
	plenty = 1 << 30
	// recently is how long a figure of plenty is good for. The system is asked again for each that is less.
	recently = 100 * time.Millisecond
)

// Recent returns the free space of one directory as free does, but asks at most ten times a second while there is plenty. A disk that
// is full in between is found when a write fails.
func Recent(free func(dir string) (int64, error)) func(dir string) (int64, error) {
	var mu sync.Mutex
	var last int64
	var at time.Time
	return func(dir string) (int64, error) {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); last < plenty || now.Sub(at) >= recently {
			n, err := free(dir)
			if err != nil {
				last = 0
				return 0, err
			}
			last, at = n, now
		}
		return last, nil
	}
}
