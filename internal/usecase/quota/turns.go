package quota

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/trapezehq/trapeze/internal/record/view"
)

const (
	readersKnown = 2048 // of an inbox
	sendersKnown = 256  // of a reader
)

// Turns remembers whose turn it was in each inbox, from page to page, and which open claims a reader was just shown. It is of this process alone; what is
// forgotten is as if the sender had not had a turn, and the claim had been shown to nobody.
type Turns struct {
	now   func() time.Time
	mu    sync.Mutex
	each  simplelru.LRUCache[string, *turns]
	holds holds
}

// turns are those in the inbox of one reader.
type turns struct {
	given uint64
	last  map[string]uint64 // by sender: given, with the last item of it
}

// NewTurns returns a memory without turns, by a clock.
func NewTurns(now func() time.Time) (*Turns, error) {
	each, err := lru.New[string, *turns](readersKnown)
	return &Turns{now: now, each: each, holds: holds{of: map[string]*hold{}}}, err
}

// Of is the turns in the inbox of an agent so far.
func (t *Turns) Of(workspace, agent string) view.Turns {
	t.mu.Lock()
	defer t.mu.Unlock()
	turns := view.Turns{Held: func(id string) bool { return !t.Held(workspace, agent, id).IsZero() }, Holds: len(t.holds.of)}
	if of, there := t.each.Get(workspace + "/" + agent); there {
		last := maps.Clone(of.last)
		turns.Given, turns.Last = of.given, func(sender string) uint64 { return last[sender] }
	}
	return turns
}

// Take notes the turns of a page that was read.
func (t *Turns) Take(workspace, agent string, senders []string) {
	if len(senders) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	key := workspace + "/" + agent
	of, there := t.each.Get(key)
	if !there {
		of = &turns{last: map[string]uint64{}}
		t.each.Add(key, of)
	}
	for _, s := range senders {
		of.given++
		of.last[s] = of.given
	}
	if len(of.last) > sendersKnown {
		oldest := slices.SortedFunc(maps.Keys(of.last), func(a, b string) int { return cmp.Compare(of.last[a], of.last[b]) })
		for _, s := range oldest[:len(oldest)-sendersKnown/2] {
			delete(of.last, s)
		}
	}
}
