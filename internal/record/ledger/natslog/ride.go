package natslog

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

const (
	// rideAmong is how many appends are in progress where another one begins soon.
	rideAmong = 8
	// rideWithin is how long that is waited for.
	rideWithin = 50 * time.Millisecond
	// rideFor is how long its answer is waited for: as long as the leader is that was elected a moment ago.
	rideFor = freshTimeout
)

// riders are calls that are to learn where the record ends, and do so from the next append: an entry that is sent after a call has begun, and is stored, comes after all that were acknowledged
// before the call. So the leader is not asked, and its answer needs no lease.
type riders struct {
	mu      sync.Mutex
	appends int // in progress
	waiting []chan ledger.Position
}

// board has the calls that wait now learn what an append comes to, by the function that it returns: the position of its entry, or 0.
func (r *riders) board(at *ledger.Position) (arrive func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	riding := r.waiting
	r.waiting, r.appends = nil, r.appends+1
	return func() {
		r.mu.Lock()
		r.appends--
		r.mu.Unlock()
		for _, got := range riding {
			got <- *at
		}
	}
}

// ride returns the position of an entry that was sent and stored meanwhile; false: there are few appends, or they fail.
func (r *riders) ride(ctx context.Context) (ledger.Position, bool) {
	r.mu.Lock()
	if r.appends < rideAmong {
		r.mu.Unlock()
		return 0, false
	}
	got := make(chan ledger.Position, 1)
	r.waiting = append(r.waiting, got)
	r.mu.Unlock()
	late := time.NewTimer(rideWithin)
	defer late.Stop()
	select {
	case at := <-got:
		return at, at > 0
	case <-late.C:
	case <-ctx.Done():
	}
	if r.leave(got) {
		return 0, false
	}
	late.Reset(rideFor)
	select {
	case at := <-got:
		return at, at > 0
	case <-late.C:
	case <-ctx.Done():
	}
	return 0, false
}

// leave reports whether a call still waited for the beginning of an append, and ends that.
func (r *riders) leave(got chan ledger.Position) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.waiting, got)
	if i < 0 {
		return false
	}
	r.waiting = slices.Delete(r.waiting, i, i+1)
	return true
}
