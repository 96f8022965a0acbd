package transport

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxReplay is how much of the events of a session is kept for a client that reconnects, in bytes. The newest event is always kept.
	maxReplay = 64 << 10
	// eventCost is what an event counts in addition to its bytes, and what a stream without events counts.
	eventCost = 64
)

// errForgotten says that the events that a client missed are no longer kept.
var errForgotten = errors.New("the events are no longer kept")

// eventStore keeps the last events of each session. It implements [mcp.EventStore].
type eventStore struct {
	mu sync.Mutex
	of map[string]*recentEvents
}

func newEventStore() *eventStore { return &eventStore{of: map[string]*recentEvents{}} }

// recentEvents has the last events of one session.
type recentEvents struct {
	bytes   int
	order   []sentEvent // oldest first
	streams map[string]*recentStream
}

// sentEvent is an event, or the opening of a stream.
type sentEvent struct {
	stream string
	event  bool
	bytes  int
}

// recentStream has the events that are kept of one stream. It is removed with its last event, unless it is the stream of the session
// itself, which exists as long as the session.
type recentStream struct {
	kept   int // entries in order
	first  int // index of the first event
	events [][]byte
}

// Open implements [mcp.EventStore].
func (s *eventStore) Open(_ context.Context, session, stream string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.of[session]
	if l == nil {
		l = &recentEvents{streams: map[string]*recentStream{}}
		s.of[session] = l
	}
	if l.streams[stream] == nil {
		l.streams[stream] = &recentStream{}
		l.keep(sentEvent{stream: stream, bytes: eventCost})
	}
	return nil
}

// Append implements [mcp.EventStore].
func (s *eventStore) Append(_ context.Context, session, stream string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, on := s.find(session, stream)
	if on == nil {
		return errForgotten
	}
	on.events = append(on.events, data)
	l.keep(sentEvent{stream: stream, event: true, bytes: eventCost + len(data)})
	return nil
}

// After implements [mcp.EventStore].
func (s *eventStore) After(_ context.Context, session, stream string, index int) iter.Seq2[[]byte, error] {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, on := s.find(session, stream)
	if on == nil || index+1 < on.first || index+1 > on.first+len(on.events) {
		return func(yield func([]byte, error) bool) { yield(nil, errForgotten) }
	}
	missed := slices.Clone(on.events[index+1-on.first:])
	return func(yield func([]byte, error) bool) {
		for _, data := range missed {
			if !yield(data, nil) {
				return
			}
		}
	}
}

// SessionClosed implements [mcp.EventStore].
func (s *eventStore) SessionClosed(_ context.Context, session string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, session)
	return nil
}

// find returns what is kept of a stream, or nil. The caller holds mu.
func (s *eventStore) find(session, stream string) (*recentEvents, *recentStream) {
	l := s.of[session]
	if l == nil {
		return nil, nil
	}
	return l, l.streams[stream]
}

// keep appends an event, and removes the oldest if there are too many.
func (l *recentEvents) keep(x sentEvent) {
	l.order = append(l.order, x)
	l.streams[x.stream].kept++
	for l.bytes += x.bytes; l.bytes > maxReplay && len(l.order) > 1; {
		old := l.order[0]
		l.order = l.order[1:]
		l.bytes -= old.bytes
		on := l.streams[old.stream]
		on.kept--
		if old.event {
			on.events[0] = nil // for the garbage collector
			on.events = on.events[1:]
			on.first++
		}
		if on.kept == 0 && old.stream != "" {
			delete(l.streams, old.stream)
		}
	}
}

var _ mcp.EventStore = (*eventStore)(nil)
