package artifacts

import (
	"sync"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Contents that may come or go at once: each takes a connection, an open file and, while it comes, room on the disk.
const (
	maxBusy    = 64
	maxBusyFor = 8 // one principal
)

// busy counts the contents that come and go.
type busy struct {
	mu  sync.Mutex
	all int
	of  map[string]int // by workspace and principal
}

// begin counts one more until done is called, or refuses it.
func (b *busy) begin(c caller.Caller) (done func(), err error) {
	who := c.Workspace + "/" + c.String()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all >= maxBusy || b.of[who] >= maxBusyFor {
		return nil, refusal.New(refusal.Unavailable, "repeat the call when others have ended", "%d artifacts are on their way, %d of them yours",
			b.all, b.of[who])
	}
	b.all++
	b.of[who]++
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.all--
		if b.of[who]--; b.of[who] == 0 {
			delete(b.of, who)
		}
	}), nil
}
