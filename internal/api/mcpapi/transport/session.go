package transport

import (
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const sessionHeader = "Mcp-Session-Id"

// sessions tracks which sessions of one principal are in use, in the older protocol. The MCP server of the principal is the authority on
// which sessions exist.
type sessions struct {
	of *serving

	again chan struct{} // of capacity 1: full while a session of another process is begun again

	mu      sync.Mutex
	known   map[string]*session
	begins  int    // requests in progress that may start a session
	unready string // the session that is begun again now: it exists, and takes no calls yet
}

// session is the use of one session.
type session struct {
	calls int       // requests in progress, including streams
	last  time.Time // when the last of them ended
	ended bool      // closed to make room; it exists until its calls have ended
}

// enter marks a session as in use until leave is called. ok is false if the session is unknown or belongs to another principal.
func (s *sessions) enter(id string) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open()[id] == nil || s.unready == id {
		return nil, false
	}
	x := s.known[id]
	if x == nil { // it has just started
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

// has reports whether a session exists.
func (s *sessions) has(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open()[id] != nil
}

// beginAgain waits until no session is begun again, and keeps calls out of this one until ready is called.
func (s *sessions) beginAgain(id string) (ready func()) {
	set := func(id string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.unready = id
	}
	s.again <- struct{}{}
	set(id)
	return func() {
		set("")
		<-s.again
	}
}

// begin is called for a request that may start a session, and done with the id of the session if one was started. If there are too many
// sessions, the least recently used is closed; ok is false if all are in use.
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

// endAll closes all sessions of a principal that has no request in progress.
func (s *sessions) endAll() {
	for _, x := range s.open() {
		end(x)
	}
}

// open returns the sessions of the server. The SDK also has a session without an id for each request of the newer protocol.
func (s *sessions) open() map[string]*mcp.ServerSession {
	all := map[string]*mcp.ServerSession{}
	server, _ := s.of.now()
	if server == nil {
		return all
	}
	for x := range server.Sessions() {
		if id := x.ID(); id != "" {
			all[id] = x
		}
	}
	return all
}

// end closes a session without waiting for its calls.
func end(x *mcp.ServerSession) {
	go func() { _ = x.Close() }() // it may be closed already
}

// ownSessions answers "not found" for a session of another principal, as for one that never existed. The client then starts another
// session, as the protocol requires. A session of the same token that another process began continues.
func ownSessions(p process, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, id := callerFrom(r.Context()), r.Header.Get(sessionHeader)
		mine := &v.sessions
		switch {
		case id != "":
			leave, ok := mine.enter(id)
			if !ok && p.continues(next, r, id) {
				leave, ok = mine.enter(id)
			}
			if !ok {
				http.Error(w, "Session not found", http.StatusNotFound)
				return
			}
			defer leave()
		case r.Method == http.MethodPost:
			done, ok := mine.begin()
			if !ok {
				w.Header().Set("Retry-After", "60")
				http.Error(w, "you have the maximum number of sessions, all in use: end one with DELETE, or use protocol version "+StatelessVersion+", which needs no session", http.StatusTooManyRequests)
				return
			}
			defer func() { done(w.Header().Get(sessionHeader)) }()
			defer v.ids.offer(p.newID(v))()
		}
		next.ServeHTTP(w, r)
	})
}
