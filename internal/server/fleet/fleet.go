package fleet

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/frontend"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/replica"
	"github.com/trapezehq/trapeze/internal/usecase/cluster"
)

// asks is the time limit for what the engine of the record is asked.
const asks = 3 * time.Second

// Options of a fleet.
type Options struct {
	Name, Version string
	URL           func() string // of this server
	Log           *slog.Logger
	Ledger        ledger.Ledger
	Viewed        func() ledger.Position
	Trouble       func() error       // why this server cannot do its work
	Front         *frontend.FrontEnd // nil: the record is not shared
	Replicas      replica.Cluster    // nil: the engine knows of its own
	Gate          *Gate
}

// Fleet is the servers of a record. It implements [cluster.Fleet].
type Fleet struct {
	o   Options
	lag lag
}

var _ cluster.Fleet = (*Fleet)(nil)

// New returns the fleet of a server.
func New(o Options) *Fleet { return &Fleet{o: o} }

// Run tells the others of this server, and keeps what they tell, until ctx ends. A server that ends in good order and has no replicas is forgotten: it need not come back.
func (f *Fleet) Run(ctx context.Context) {
	if f.o.Front == nil {
		return
	}
	f.o.Front.Meet(ctx, f.me, func(on bool) { f.set(ctx, on) })
	if f.engine() == cluster.Nodes {
		return
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = f.o.Front.Others().Forget(end, f.o.Name) // it is shown as silent otherwise
}

// set drains this server, or has it take work again. A leader that was elected meanwhile yields again.
func (f *Fleet) set(ctx context.Context, on bool) {
	if f.o.Gate.Drain(on) {
		f.o.Log.Info(map[bool]string{true: "this server takes no new work", false: "this server takes new work again"}[on])
		f.o.Front.Pause(on)
	}
	if on && f.o.Replicas != nil {
		ctx, cancel := context.WithTimeout(ctx, asks)
		defer cancel()
		if err := f.o.Replicas.Yield(ctx); err != nil {
			f.o.Log.Debug("the lead cannot be given away; it is tried again", "error", err)
		}
	}
}

// me is what this server tells of itself.
func (f *Fleet) me(ctx context.Context) frontend.Member {
	viewed := f.o.Viewed()
	m := frontend.Member{Name: f.o.Name, URL: f.o.URL(), Version: f.o.Version, Viewed: viewed, Turn: f.o.Front == nil || f.o.Front.HasTurn(), Drained: f.o.Gate.Drained()}
	ctx, cancel := context.WithTimeout(ctx, frontend.Every)
	defer cancel()
	last, err := f.o.Ledger.Last(ctx)
	if err == nil {
		err = f.o.Trouble()
	}
	if err != nil {
		m.Trouble = err.Error()
	}
	m.Last, m.Behind = f.lag.at(time.Now(), last, viewed)
	return m
}

func (f *Fleet) engine() cluster.Engine {
	switch {
	case f.o.Front == nil:
		return cluster.Directory
	case f.o.Replicas == nil:
		return cluster.PostgreSQL
	case f.o.Replicas.Node() == "":
		return cluster.NATS
	}
	return cluster.Nodes
}

// Known implements [cluster.Fleet].
func (f *Fleet) Known(ctx context.Context) cluster.Known {
	me := frontend.Seen{Member: f.me(ctx)}
	k := cluster.Known{Engine: f.engine(), Here: f.o.Name, Last: me.Last, Members: []frontend.Seen{me}}
	if f.o.Front != nil {
		others := slices.DeleteFunc(f.o.Front.Members(), func(m frontend.Seen) bool { return m.Name == f.o.Name })
		k.Members = append(k.Members, others...)
		for _, m := range others {
			k.Last = max(k.Last, m.Last)
		}
	}
	var err error
	if f.o.Replicas != nil {
		ctx, cancel := context.WithTimeout(ctx, asks)
		defer cancel()
		k.Groups, err = f.o.Replicas.Groups(ctx)
	} else if err = f.o.Ledger.Err(); err == nil && me.Trouble != "" {
		err = errors.New(me.Trouble)
	}
	if err != nil {
		k.Trouble = err.Error()
	}
	return k
}

// Drain implements [cluster.Fleet].
func (f *Fleet) Drain(ctx context.Context, name string, on bool) error {
	if f.o.Front == nil {
		return alone()
	}
	return f.o.Front.Others().Drain(ctx, name, on)
}

// Forget implements [cluster.Fleet].
func (f *Fleet) Forget(ctx context.Context, name string) error {
	if f.o.Front == nil {
		return alone()
	}
	return f.o.Front.Others().Forget(ctx, name)
}

// Remove implements [cluster.Fleet].
func (f *Fleet) Remove(ctx context.Context, name string) error {
	if f.o.Replicas == nil {
		return alone()
	}
	return f.o.Replicas.Remove(ctx, name)
}

func alone() error {
	return refusal.New(refusal.Conflict, "see docs/cluster.md for a record that several servers share", "the record of this server is in its data directory, and it is the only one")
}
