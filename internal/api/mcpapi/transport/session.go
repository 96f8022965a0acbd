package transport

import (
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const sessionHeader = "Mcp-Session-Id"

// sessions are those of the older protocol that one principal has open, and which of them are in use. That a session is there,
// and whose it is, only its server says.
type sessions struct {
	server *mcp.Server

	mu     sync.Mutex
	known  map[string]*session
	begins int // requests under way that may begin one
}

// session is what is known of one beside that it is there.
type session struct {
	calls int       // requests under way, streams among them
	last  time.Time // when the last of them ended
	ended bool      // to make room; it is there until what it does has ended too
}

// enter is for a request of a session, until leave is called. A session that is not the principal's is none.
func (s *sessions) enter(id string) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open()[id] == nil {
		return nil, false
	}
	x := s.known[id]
	if x == nil { // it was begun just now
		x = &session{}
		s.known[id] = x
	}
	if x.ended {
		return nil, false
	}
	x.calls++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		x.calls--
		x.last = time.Now()
	}, true
}

// begin is for a request that may begin a session, until done is called with the session's id, if one was begun. Where there
// would be too many, the longest unused ends; if all are in use, there is no room.
func (s *sessions) begin() (done func(id string), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	open, longest := s.open(), ""
	count := s.begins
	for id, x := range s.known {
		switch {
		case open[id] == nil:
			delete(s.known, id)
		case !x.ended:
			count++
			if x.calls == 0 && (longest == "" || x.last.Before(s.known[longest].last)) {
				longest = id
			}
		}
	}
	if count >= maxSessions {
		if longest == "" {
			return nil, false
		}
		s.known[longest].ended = true
		end(open[longest])
	}
	s.begins++
	return func(id string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.begins--
		if id != "" && s.known[id] == nil {
			s.known[id] = &session{last: time.Now()}
		}
	}, true
}

// endAll ends every session of a principal that has no request under way.
func (s *sessions) endAll() {
	for _, x := range s.open() {
		end(x)
	}
}

// open are those that the server has. Requests of the newer protocol have one each while they last, which has no id.
func (s *sessions) open() map[string]*mcp.ServerSession {
	all := map[string]*mcp.ServerSession{}
	for x := range s.server.Sessions() {
		if id := x.ID(); id != "" {
			all[id] = x
		}
	}
	return all
}

// end does not wait for calls that go on although their client is gone.
func end(x *mcp.ServerSession) {
	go func() { _ = x.Close() }() // it may be closing
}

// ownSessions answers for a session that is not the principal's as for one that never was: nobody learns of another's. Who is told
// so begins another, as the protocol has it.
func ownSessions(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mine, id := callerFrom(r.Context()).sessions, r.Header.Get(sessionHeader)
		switch {
		case id != "":
			leave, ok := mine.enter(id)
			if !ok {
				http.Error(w, "Session not found", http.StatusNotFound)
				return
			}
			defer leave()
		case r.Method == http.MethodPost:
			done, ok := mine.begin()
			if !ok {
				w.Header().Set("Retry-After", "60")
				http.Error(w, "all sessions that you may have are in use: end one with DELETE, or use protocol version "+StatelessVersion+", which needs none", http.StatusTooManyRequests)
				return
			}
			defer func() { done(w.Header().Get(sessionHeader)) }()
		}
		next.ServeHTTP(w, r)
	})
}
