package quota

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

// rated is how many principals a rate remembers: those beyond that it has not heard of for the longest time begin again.
const rated = 4096

// Rate bounds how often, and how much, each principal has something done that costs money or another's time: so many calls and bytes a
// minute, and as many at once. It is of this process alone. A nil Rate bounds nothing.
type Rate struct {
	calls, bytes int // a minute
	now          func() time.Time

	mu   sync.Mutex
	each simplelru.LRUCache[string, [2]*rate.Limiter] // of calls and bytes
}

// NewRate returns a bound of so many calls and bytes a minute for each principal.
func NewRate(calls, bytes int, now func() time.Time) (*Rate, error) {
	each, err := lru.New[string, [2]*rate.Limiter](rated)
	return &Rate{calls: calls, bytes: bytes, now: now, each: each}, err
}

// Take counts a call with so many bytes of a principal of a workspace, and reports whether it may be made. One that may not is not counted.
func (r *Rate) Take(workspace, principal string, bytes int) bool {
	if r == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key, now := workspace+"/"+principal, r.now()
	l, there := r.each.Get(key)
	if !there {
		l = [2]*rate.Limiter{rate.NewLimiter(rate.Limit(r.calls)/60, r.calls), rate.NewLimiter(rate.Limit(r.bytes)/60, r.bytes)}
		r.each.Add(key, l)
	}
	bytes = min(bytes, r.bytes) // one that is larger than all takes all
	return l[0].TokensAt(now) >= 1 && l[1].TokensAt(now) >= float64(bytes) && l[0].AllowN(now, 1) && l[1].AllowN(now, bytes)
}
