package frontend

import (
	"context"
	"maps"
	"slices"
	"strings"
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
	// Forgotten is the silence after which a front end or an agent is no longer told of.
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
	// Exchange tells the others of this front end, and how long ago agents were heard of here. It returns
	// which agents were heard of anywhere within a time, and all members that are not forgotten.
	Exchange(ctx context.Context, self Member, agents map[string]time.Duration, within time.Duration) (News, error)
	// HoldTurn waits until no other front end has the turn, takes it, calls taken, and returns when the turn is lost or ctx ends.
	HoldTurn(ctx context.Context, taken func()) error
	// Forget removes a member that does not run. It is told of again if it does.
	Forget(ctx context.Context, name string) error
	// Close releases the connections.
	Close()
}

// News is what front ends tell each other.
type News struct {
	Agents  map[string]time.Duration // how long ago each agent was heard of
	Members []Member
}

// Member is a front end, as it describes itself.
type Member struct {
	Name     string          `json:"name"` // of its data directory
	URL      string          `json:"url"`
	Version  string          `json:"version"`
	Position ledger.Position `json:"position"` // up to which its views have the record
	HasTurn  bool            `json:"has_turn,omitempty"`
	Draining bool            `json:"draining,omitempty"`
	Age      time.Duration   `json:"-"` // since it was heard of
}

// FrontEnd is one of those that share a record. It is safe for concurrent use.
type FrontEnd struct {
	Store

	mu      sync.Mutex
	turn    bool
	changed chan struct{} // is closed when turn changes
	saved   map[string]ledger.Position
	members []Member
	met     time.Time // when members were told of
}

// New returns a front end. Its Close closes the store.
func New(s Store) *FrontEnd {
	return &FrontEnd{Store: s, changed: make(chan struct{}), saved: map[string]ledger.Position{}}
}

// Presence is when agents were heard of.
type Presence interface {
	// News returns how long ago agents were heard of at this front end, for those that were since the last call.
	News() map[string]time.Duration
	// Learn takes how long ago agents were heard of at any front end.
	Learn(map[string]time.Duration)
}

// Share exchanges when agents were heard of and which front ends there are, and saves what [FrontEnd.Cursors] keep, each second until ctx ends. report is told of
// the first failure in a row, and with nil of its end.
func (f *FrontEnd) Share(ctx context.Context, p Presence, self func() Member, report func(error)) {
	tick := time.NewTicker(Every)
	defer tick.Stop()
	failing := false
	unsent := map[string]time.Duration{}
	var last time.Time
	for ctx.Err() == nil {
		began := time.Now()
		maps.Copy(unsent, p.News())
		err := f.share(ctx, p, self(), unsent, began.Sub(last)+overlap)
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

func (f *FrontEnd) share(ctx context.Context, p Presence, self Member, agents map[string]time.Duration, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	self.HasTurn = f.HasTurn()
	news, err := f.Exchange(ctx, self, agents, min(within, Forgotten))
	if err != nil {
		return err
	}
	p.Learn(news.Agents)
	f.meet(news.Members)
	return f.flush(ctx)
}

// meet remembers which members there are.
func (f *FrontEnd) meet(list []Member) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.members, f.met = list, time.Now()
}

// Members lists the front ends that were heard of, by name.
func (f *FrontEnd) Members() []Member {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := slices.Clone(f.members)
	for i := range list {
		list[i].Age += time.Since(f.met)
	}
	slices.SortFunc(list, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return list
}
