package quota

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/trapezehq/trapeze/internal/record/view"
)

const (
	readersKnown = 2048 // of an inbox
	sendersKnown = 256  // of a reader
)

// Turns remembers whose turn it was in each inbox, from page to page. It is of this process alone; what is forgotten is as if the sender
// had not had a turn.
type Turns struct {
	mu   sync.Mutex
	each simplelru.LRUCache[string, *turns]
}

// turns are those in the inbox of one reader.
type turns struct {
	given uint64
	last  map[string]uint64 // by sender: given, with the last item of it
}

// NewTurns returns a memory without turns.
func NewTurns() (*Turns, error) {
	each, err := lru.New[string, *turns](readersKnown)
	return &Turns{each: each}, err
}

// Of is the turns in the inbox of an agent so far.
func (t *Turns) Of(workspace, agent string) view.Turns {
	t.mu.Lock()
	defer t.mu.Unlock()
	of, there := t.each.Get(workspace + "/" + agent)
	if !there {
		return view.Turns{}
	}
	last := maps.Clone(of.last)
	return view.Turns{Given: of.given, Last: func(sender string) uint64 { return last[sender] }}
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
