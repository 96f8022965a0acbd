package quota

import (
	"context"
	"strings"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
)

const (
	defaultMaxOffers = 1000
	offersCached     = 16_384 // pairs of sender and receiver
	retrySeconds     = 10     // when some may have been answered
)

// Offers bounds the open offers of one sender to one receiver, so that nobody can fill an inbox. It is advisory and cheap: offers
// are only added until the bound seems to be reached, and then counted in the views. So there may be more by what is under way, on
// other nodes too.
type Offers struct {
	most  int
	views view.TaskQueries
	mu    sync.Mutex
	known simplelru.LRUCache[string, int] // at most so many
}

// NewOffers returns a quota of the open offers of each sender to each receiver; 0 means 1,000.
func NewOffers(most int, v view.TaskQueries) (*Offers, error) {
	if most <= 0 {
		most = defaultMaxOffers
	}
	known, err := lru.New[string, int](offersCached)
	return &Offers{most: most, views: v, known: known}, err
}

// Admit counts one more offer of a sender, a principal, to a receiver, or refuses it (overloaded). A number that cannot be read is no
// reason to refuse anything.
func (o *Offers) Admit(ctx context.Context, workspace, sender, receiver string) error {
	key := workspace + "/" + receiver + "/" + sender
	o.mu.Lock()
	open, there := o.known.Get(key)
	if there && open < o.most {
		o.known.Add(key, open+1)
		o.mu.Unlock()
		return nil
	}
	o.mu.Unlock()

	name := strings.TrimPrefix(sender, "agent/")
	open, err := o.views.OfferCount(ctx, workspace, receiver, name, o.most)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	o.mu.Lock()
	o.known.Add(key, open+1)
	o.mu.Unlock()
	if open < o.most {
		return nil
	}
	return refusal.New(refusal.Overloaded, "try again in 10 s, when some may have been answered, withdraw those that nobody needs, or hand off to another agent",
		"%s has %d offers that wait for %s, and no more may wait", name, open, receiver).With("retry_seconds", retrySeconds)
}
