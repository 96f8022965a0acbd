package transport

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// principals is where the principals are: those with requests under way, and of the others the ones who came last. Whoever leaves it
// for others to have room holds nothing open by then but sessions of the older protocol, and these end with it: what a
// principal holds is always known here, and a bound cannot be got around by being forgotten.
type principals struct {
	mu   sync.Mutex
	busy map[string]*principal
	idle *simplelru.LRU[string, *principal]
	most int // of the idle
}

func newPrincipals(most int) *principals {
	idle, err := simplelru.NewLRU[string, *principal](most, nil)
	if err != nil {
		panic(err) // only a size below 1 is refused
	}
	return &principals{busy: map[string]*principal{}, idle: idle, most: most}
}

// enter gives the principal of a name, which is made if it is not here, until leave is called.
func (s *principals) enter(key string, made func() (*principal, error)) (p *principal, leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, here := s.busy[key]
	if !here {
		if p, here = s.idle.Peek(key); here {
			s.idle.Remove(key)
		} else if p, err = made(); err != nil {
			return nil, nil, err
		}
		s.busy[key] = p
	}
	p.requests++
	return p, func() { s.leave(key, p) }, nil
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
