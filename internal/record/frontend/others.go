package frontend

import (
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Member is what a front end tells of itself.
type Member struct {
	Name    string          `json:"name"`
	URL     string          `json:"url"`
	Version string          `json:"version,omitempty"`
	Viewed  ledger.Position `json:"viewed"`            // its views have everything up to there
	Last    ledger.Position `json:"last"`              // of the entries that it knows of
	Behind  time.Duration   `json:"behind,omitempty"`  // age of the oldest entry that its views lack, in nanoseconds
	Turn    bool            `json:"turn,omitempty"`    // it does what one front end must do alone
	Drained bool            `json:"drained,omitempty"` // it takes no new work
	Trouble string          `json:"trouble,omitempty"` // why it cannot do its work
}

// Seen is a front end, and how long ago it was heard of.
type Seen struct {
	Member
	Ago time.Duration
}

// Others is how front ends hear of each other.
type Others interface {
	// Meet tells the others of a front end, and returns all that were heard of within [Forgotten], and whether it was asked to take no new work.
	Meet(ctx context.Context, me Member) (all []Seen, drain bool, err error)
	// Drain asks a front end to take no new work, or to take it again.
	Drain(ctx context.Context, name string, on bool) error
	// Forget forgets a front end, until it is heard of again.
	Forget(ctx context.Context, name string) error
}

// Meet tells the others of this front end each second until ctx ends, and keeps what they tell: see [FrontEnd.Members]. drain is told what was asked of it. A front
// end that has just started takes work, whatever was asked of the one before it.
func (f *FrontEnd) Meet(ctx context.Context, me func(context.Context) Member, drain func(bool)) {
	tick := time.NewTicker(Every)
	defer tick.Stop()
	fresh := true
	for ctx.Err() == nil {
		fresh = f.meet(ctx, me(ctx), fresh, drain) != nil && fresh
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// pause is the time without an exchange after which a front end has to listen again for a while: it was paused, or cut off from what keeps the record.
const pause = 2 * Patience

func (f *FrontEnd) meet(ctx context.Context, me Member, fresh bool, drain func(bool)) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	others := f.Others()
	if fresh {
		if err := others.Drain(ctx, me.Name, false); err != nil {
			return err
		}
	}
	all, asked, err := others.Meet(ctx, me)
	if err != nil {
		return err
	}
	f.mu.Lock()
	now := time.Now()
	if f.met.IsZero() || now.Sub(f.met) > pause {
		f.listens = now
	}
	f.members, f.met = all, now
	f.mu.Unlock()
	drain(asked)
	return nil
}

// Listens returns for how long this front end has listened to the others; 0: not yet, or it cannot. One that runs was heard of in some seconds of it.
func (f *FrontEnd) Listens() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.met.IsZero() || time.Since(f.met) > pause {
		return 0
	}
	return time.Since(f.listens)
}

// Members returns the front ends that were heard of, by name, this one included.
func (f *FrontEnd) Members() []Seen {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := slices.Clone(f.members)
	for i := range all {
		all[i].Ago += time.Since(f.met)
	}
	slices.SortFunc(all, func(a, b Seen) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return all
}
