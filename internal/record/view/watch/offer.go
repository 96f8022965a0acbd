package watch

import "time"

const (
	// firstTold is how many watchers are told of an offer at once.
	firstTold = 2
	// patience is how long they have to take it before twice as many others are told, who have twice as long, up to longest. An agent answers later than
	// that if a model reads the offer first, and then the others are told; one that is a program takes it before. A server that is slow because many
	// look has fewer woken to look.
	patience = 200 * time.Millisecond
	longest  = time.Second
)

// offer is something that one of many watchers is to take.
type offer[K comparable] struct {
	left []K // keys whose watchers have not been told
	most int // how many are told next
	wait time.Duration
	next *time.Timer
}

// Offer signals the watchers of keys of something that one of them is to take: the first few that have no signal pending, and then
// others, twice as many each time, until all are told or [Hub.Withdraw] is called with the same id. So what is taken at once wakes few of
// many.
func (h *Hub[K]) Offer(id K, to []K) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := &offer[K]{most: firstTold, wait: patience}
	if before := h.offers[id]; before != nil {
		before.next.Stop()
		o.left = before.left
	}
	o.left = append(o.left, to...)
	h.tell(id, o)
}

// Withdraw ends an offer: nobody else is told of it. Those who were are not signalled again, since nothing has come for them.
func (h *Hub[K]) Withdraw(id K) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if o := h.offers[id]; o != nil {
		o.next.Stop()
		delete(h.offers, id)
	}
}

// tell signals the next watchers of an offer. Those that are awake already find it by themselves, as does a watcher that begins later.
func (h *Hub[K]) tell(id K, o *offer[K]) {
	for told := 0; told < o.most; o.left = o.left[1:] {
		if len(o.left) == 0 {
			delete(h.offers, id)
			return
		}
		if h.signal(o.left[0]) {
			told++
		}
	}
	o.most *= 2
	h.offers[id] = o
	o.next = time.AfterFunc(o.wait, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.offers[id] == o {
			h.tell(id, o)
		}
	})
	o.wait = min(2*o.wait, longest)
}
