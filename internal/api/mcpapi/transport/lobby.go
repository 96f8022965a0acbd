package transport

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// lobby is where the principals are: those with requests under way, and of the others the ones who came last. Whoever leaves it
// for others to have room holds nothing open by then but sessions of the older protocol, and these end with it: what a
// principal holds is always known here, and a bound cannot be got around by being forgotten.
type lobby struct {
	mu   sync.Mutex
	busy map[string]*principal
	idle *simplelru.LRU[string, *principal]
	most int // of the idle
}

func newLobby(most int) *lobby {
	idle, err := simplelru.NewLRU[string, *principal](most, nil)
	if err != nil {
		panic(err) // only a size below 1 is refused
	}
	return &lobby{busy: map[string]*principal{}, idle: idle, most: most}
}

// enter gives the principal of a name, which is made if it is not here, until leave is called.
func (l *lobby) enter(key string, made func() (*principal, error)) (p *principal, leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, here := l.busy[key]
	if !here {
		if p, here = l.idle.Peek(key); here {
			l.idle.Remove(key)
		} else if p, err = made(); err != nil {
			return nil, nil, err
		}
		l.busy[key] = p
	}
	p.visits++
	return p, func() { l.leave(key, p) }, nil
}

func (l *lobby) leave(key string, p *principal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.visits--; p.visits > 0 {
		return
	}
	delete(l.busy, key)
	if l.idle.Len() >= l.most {
		if _, longest, ok := l.idle.RemoveOldest(); ok {
			longest.sessions.endAll()
		}
	}
	l.idle.Add(key, p)
}
