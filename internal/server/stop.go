package server

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/internal/api/multiplex"
)

// grace is how long no call may have ended, when the server stops, for those in progress to be event streams. A call that waited takes milliseconds, and
// of hundreds each takes its turn.
const grace = 500 * time.Millisecond

// looks is the number of times that the calls in progress are counted meanwhile.
const looks = 5

// linger is the time for calls that are on their way on open connections when the server stops.
const linger = 250 * time.Millisecond

// endStreams ends event streams, which do not end by themselves, and background work: once no other call is in progress, or when none has ended for a while.
func (s *Server) endStreams(drain context.Context, quiet time.Duration) {
	defer s.stop()
	tick := time.NewTicker(quiet / looks)
	defer tick.Stop()
	left, same := s.calls.Load(), 0
	for left > 0 && same < looks {
		select {
		case <-drain.Done():
			return
		case <-tick.C:
		}
		now := s.calls.Load()
		if same++; now != left {
			same = 0
		}
		left = now
	}
}

// lastAnswers accepts no new connection, and closes each open one after its next answer. Idle connections are closed only after
// a while, by Shutdown: closing them at once could cut off a call that is just arriving.
func (s *Server) lastAnswers() {
	s.leaving.Store(true)
	_ = s.listener.Close() // Shutdown closes it again and returns the error
	<-time.After(linger)
}

// closeConnections tells clients, while the server stops, that an answer is the last on its connection, and counts the calls in progress.
func (s *Server) closeConnections(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.leaving.Load() || s.gate.Drained() { // a client of several servers, or a balancer, chooses again
			w.Header().Set("Connection", "close")
		}
		s.calls.Add(1)
		defer s.calls.Add(-1)
		next.ServeHTTP(w, r)
	})
}

// multiplexed returns the handler of connections with many calls, each of which counts as one in progress.
func (s *Server) multiplexed(api http.Handler) http.Handler {
	next := multiplex.New(s.closeConnections(api), s.gate.Closed)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.hijacked.Add(1)
		defer s.hijacked.Done()
		next.ServeHTTP(w, r)
	})
}
