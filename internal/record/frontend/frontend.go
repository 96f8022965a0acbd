package frontend

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

const (
	// Every is how often front ends exchange what they know, and look whether the turn is theirs.
	Every = time.Second
	// overlap is how much further back than the last exchange is read: what was late to arrive.
	overlap = 30 * time.Second
	// Patience is the time limit of each exchange.
	Patience = 5 * time.Second
	// Forgotten is the silence after which an agent is no longer told of.
	Forgotten = 7 * 24 * time.Hour
)

// Store is what a technology keeps and exchanges for the front ends of a record. It is safe for concurrent use.
type Store interface {
	// Secret returns a value that all front ends have; the first that needs it generates it.
	Secret(ctx context.Context, name string, generate func() (string, error)) (string, error)
	// Cursor returns the position that was saved under a name; 0 for none.
	Cursor(ctx context.Context, name string) (ledger.Position, error)
	// RaiseCursor saves a position, unless a greater one is saved.
	RaiseCursor(ctx context.Context, name string, at ledger.Position) error
	// Exchange tells the others how long ago agents were heard of here, and returns that of all that were heard of anywhere within a time.
	Exchange(ctx context.Context, agents map[string]time.Duration, within time.Duration) (map[string]time.Duration, error)
	// HoldTurn waits until no other front end has the turn, takes it, calls taken, and returns when the turn is lost or ctx ends.
	HoldTurn(ctx context.Context, taken func()) error
	// Others is how front ends hear of each other.
	Others() Others
	// Close releases the connections.
	Close()
}

// FrontEnd is one of those that share a record. It is safe for concurrent use.
type FrontEnd struct {
	Store

	mu      sync.Mutex
	turn    bool
	changed chan struct{} // is closed when turn changes
	paused  bool          // it does not want the turn
	pausing chan struct{} // is closed when paused changes
	saved   map[string]ledger.Position
	members []Seen    // that were heard of
	met     time.Time // when that was
	listens time.Time // since when they are exchanged without a pause
	alone   int       // of what is called while this one has the turn, what has not returned
	left    sync.Cond // signals that alone is less
}

// New returns a front end. Its Close closes the store.
func New(s Store) *FrontEnd {
	f := &FrontEnd{Store: s, changed: make(chan struct{}), pausing: make(chan struct{}), saved: map[string]ledger.Position{}}
	f.left.L = &f.mu
	return f
}

// Presence is when agents were heard of.
type Presence interface {
	// News returns how long ago agents were heard of at this front end, for those that were since the last call.
	News() map[string]time.Duration
	// Learn takes how long ago agents were heard of at any front end.
	Learn(map[string]time.Duration)
}

// Share exchanges when agents were heard of, and saves what [FrontEnd.Cursors] keep, each second until ctx ends. report is told of
// the first failure in a row, and with nil of its end.
func (f *FrontEnd) Share(ctx context.Context, p Presence, report func(error)) {
	tick := time.NewTicker(Every)
	defer tick.Stop()
	failing := false
	unsent := map[string]time.Duration{}
	var last time.Time
	for ctx.Err() == nil {
		began := time.Now()
		maps.Copy(unsent, p.News())
		err := f.share(ctx, p, unsent, began.Sub(last)+overlap)
		switch {
		case err == nil:
			last = began
			clear(unsent)
		case ctx.Err() != nil:
			return
		case !failing:
			report(err)
		}
		if failing && err == nil {
			report(nil)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
		for agent := range unsent { // it fails, and they become older
			unsent[agent] += time.Since(began)
		}
	}
}

func (f *FrontEnd) share(ctx context.Context, p Presence, agents map[string]time.Duration, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	heard, err := f.Exchange(ctx, agents, min(within, Forgotten))
	if err != nil {
		return err
	}
	p.Learn(heard)
	return f.flush(ctx)
}
