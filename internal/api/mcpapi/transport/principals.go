package transport

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// principals keeps the state of principals: of all with requests in progress, and of the most recently used others. A principal that is
// removed has nothing open but sessions of the older protocol, which end with it. So the limits of a principal cannot be evaded by
// being removed.
type principals struct {
	mu   sync.Mutex
	busy map[string]*principal
	idle simplelru.LRUCache[string, *principal]
	most int // maximum size of idle
}

func newPrincipals(most int) *principals {
	idle, err := simplelru.NewLRU[string, *principal](most, nil)
	if err != nil {
		panic(err) // only a size below 1 is refused
	}
	return &principals{busy: map[string]*principal{}, idle: idle, most: most}
}

// enter returns the principal of a key, and creates it if necessary. It is kept until leave is called.
func (s *principals) enter(key string, made func() *principal) (p *principal, leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, here := s.busy[key]
	if !here {
		if p, here = s.idle.Peek(key); here {
			s.idle.Remove(key)
		} else {
			p = made()
		}
		s.busy[key] = p
	}
	p.requests++
	return p, func() { s.leave(key, p) }
}

func (s *principals) leave(key string, p *principal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.requests--; p.requests > 0 {
		return
	}
	delete(s.busy, key)
	if s.idle.Len() >= s.most {
		if _, longest, ok := s.idle.RemoveOldest(); ok {
			longest.sessions.endAll()
		}
	}
	s.idle.Add(key, p)
}
