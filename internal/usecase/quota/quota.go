package quota

import (
	"context"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

const (
	defaultMaxOpen = 100_000
	quotaFor       = time.Second // how long a number that was counted is good for
	quotaCached    = 4096        // principals
)

// Quota bounds the open tasks that one principal has requested. It is advisory and cheap: the number comes from the
// views, at most once a second for each principal, and in between only the principal's new tasks are added, on this server.
// So there may be more by what other servers let through in a second and what the views lag behind; and a principal at its
// bound hears a second late that one of its tasks has ended.
type Quota struct {
	most  int
	views view.TaskQueries
	now   func() time.Time
	mu    sync.Mutex
	known simplelru.LRUCache[string, counted]
}

type counted struct {
	open int
	at   time.Time
}

// New returns a quota of the open tasks of each principal; 0 means 100,000.
func New(most int, v view.TaskQueries, now func() time.Time) (*Quota, error) {
	if most <= 0 {
		most = defaultMaxOpen
	}
	known, err := lru.New[string, counted](quotaCached)
	return &Quota{most: most, views: v, now: now, known: known}, err
}

// open is how many tasks the caller has open. The call that counts again does so outside of the lock; the others use the last
// number. A number that cannot be read is no reason to refuse anything.
func (q *Quota) open(ctx context.Context, c caller.Caller) int {
	key, now := c.Workspace+"/"+c.String(), q.now()
	q.mu.Lock()
	known, _ := q.known.Get(key)
	if age := now.Sub(known.at); age >= 0 && age < quotaFor {
		q.mu.Unlock()
		return known.open
	}
	known.at = now
	q.known.Add(key, known)
	q.mu.Unlock()

	open, err := q.views.OpenTaskCount(ctx, c.Workspace, c.String())
	if err != nil {
		return known.open
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.known.Add(key, counted{open: open, at: now})
	return open
}

// Made adds a task that the caller has made.
func (q *Quota) Made(c caller.Caller) {
	key := c.Workspace + "/" + c.String()
	q.mu.Lock()
	defer q.mu.Unlock()
	if known, there := q.known.Get(key); there {
		known.open++
		q.known.Add(key, known)
	}
}
