package workspacestore

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
)

const (
	cached     = 1_000  // folds of workspaces that are kept in memory
	remembered = 10_000 // idempotency keys that a workspace remembers at least
	knownFor   = time.Second
	settled    = 3 * knownFor // the state that a writer knows is at most as old as knownFor, and so is what it writes without looking again
	knownMost  = 16_384       // workspaces, and numbers of them, that are known at a time
)

// Kind is the kind of the streams of workspaces.
const Kind = workspace.StreamKind

// StreamOf is the stream of a workspace: all are in the workspace default, whose admins change them.
func StreamOf(name string) ledger.Stream {
	return ledger.StreamOf(identity.DefaultWorkspace, Kind, name)
}

// Store is the workspaces of one ledger. Its methods are safe for many goroutines.
type Store struct {
	stream.Kind[workspace.State, workspace.Event]
	views   view.WorkspaceQueries
	now     func() time.Time
	shared  bool         // with other servers
	writing sync.RWMutex // held to read while an entry is written

	first sync.Mutex // held while a number is counted that nobody has counted

	looking sync.RWMutex // of states: every call looks, and those that wait for a mutex would be a queue
	states  map[string]*known

	mu       sync.Mutex
	used     simplelru.LRUCache[use, counted]
	counting atomic.Bool   // used has had something
	reserved map[use]int64 // for entries that are being written
}

// known is the state of a workspace as it was at a time.
type known struct {
	state workspace.State
	at    time.Time
}

// use is what a limit of a workspace counts.
type use struct {
	workspace string
	limit     workspace.Limit
	day       int64 // of entries
}

// counted is a number as it was at a time, and what was added here since.
type counted struct {
	n  int64
	at time.Time
}

// New returns the workspaces of a ledger. current is that of [stream.Options].
func New(l ledger.Ledger, v view.WorkspaceQueries, now func() time.Time, current *stream.Current) (*Store, error) {
	s := &Store{views: v, now: now, shared: current != nil, states: map[string]*known{}, reserved: map[use]int64{}}
	var err error
	if s.used, err = lru.New[use, counted](knownMost); err != nil {
		return nil, err
	}
	s.Kind, err = stream.New("workspace", l, workspace.Fold, now, workspace.Events, stream.Options[workspace.State, workspace.Event]{Cached: cached, Remember: remembered, Current: current, Absent: true})
	return s, err
}

// Find is a fresh read of a workspace.
func (s *Store) Find(ctx context.Context, name string) (stream.Folded[workspace.State], error) {
	f, err := s.Load(ctx, StreamOf(name), true)
	if err == nil {
		s.Keep(name, f.State)
	}
	return f, err
}

// State returns a workspace as it was within the last second, and with every change that was made here. It is shared and must not be changed.
func (s *Store) State(ctx context.Context, name string) (*workspace.State, error) {
	now := s.now()
	s.looking.RLock()
	k := s.states[name]
	s.looking.RUnlock()
	if k != nil {
		if age := now.Sub(k.at); age >= 0 && age < knownFor {
			return &k.state, nil
		}
	}
	return s.find(ctx, name)
}

// find is the state that [Store.Find] finds.
func (s *Store) find(ctx context.Context, name string) (*workspace.State, error) {
	f, err := s.Find(ctx, name)
	return &f.State, err
}

// Keep keeps the state of a workspace after a change.
func (s *Store) Keep(name string, state workspace.State) {
	k := &known{state, s.now()}
	s.looking.Lock()
	defer s.looking.Unlock()
	if len(s.states) >= knownMost { // they would be read again within a second in any case
		clear(s.states)
	}
	s.states[name] = k
}

// remember notes a number. The caller holds mu.
func (s *Store) remember(u use, c counted) {
	s.used.Add(u, c)
	s.counting.Store(true)
}
