package cluster

import (
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// longest is how many looks are remembered: of a server that is further behind, less than all that it is behind is told.
const longest = 3600

// lag finds out for how long the views have lacked an entry.
type lag struct {
	mu    sync.Mutex
	last  ledger.Position // greatest that was seen
	looks []look          // at ends of the record that the views have not reached, the oldest first
}

// look is when the record was first seen to end at a position.
type look struct {
	end ledger.Position
	at  time.Time
}

// at returns the end of the record, which is 0 if it is not known now, and the age of the oldest entry beyond viewed.
func (l *lag) at(now time.Time, end, viewed ledger.Position) (ledger.Position, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	end = max(end, viewed)
	if end > l.last {
		if l.last = end; len(l.looks) < longest {
			l.looks = append(l.looks, look{end, now})
		}
	}
	for len(l.looks) > 0 && l.looks[0].end <= viewed {
		l.looks = l.looks[1:]
	}
	if len(l.looks) == 0 {
		return l.last, 0
	}
	return l.last, now.Sub(l.looks[0].at)
}
