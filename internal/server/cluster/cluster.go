package cluster

import (
	"context"
	"errors"
	"fmt"
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

// Options of a cluster.
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

// Cluster is the servers of a record. It implements [cluster.Servers].
type Cluster struct {
	o   Options
	lag lag
}

var _ cluster.Servers = (*Cluster)(nil)

// New returns the cluster of a server.
func New(o Options) *Cluster { return &Cluster{o: o} }

// Run tells the others of this server, and keeps what they tell, until ctx ends. A server that ends in good order and has no replicas is forgotten: it need not come back.
func (c *Cluster) Run(ctx context.Context) {
	if c.o.Front == nil {
		return
	}
	c.o.Front.Meet(ctx, c.me, func(on bool) { c.set(ctx, on) })
	if c.engine() == cluster.Nodes {
		return
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = c.o.Front.Others().Forget(end, c.o.Name) // it is shown as silent otherwise
}

// set drains this server, or has it take work again. A leader that was elected meanwhile yields again.
func (c *Cluster) set(ctx context.Context, on bool) {
	if c.o.Gate.Drain(on) {
		c.o.Log.Info(map[bool]string{true: "this server takes no new work", false: "this server takes new work again"}[on])
		c.o.Front.Pause(on)
	}
	if on && c.o.Replicas != nil {
		ctx, cancel := context.WithTimeout(ctx, asks)
		defer cancel()
		if err := c.o.Replicas.Yield(ctx); err != nil {
			c.o.Log.Debug("the lead cannot be given away; it is tried again", "error", err)
		}
	}
}

// me is what this server tells of itself.
func (c *Cluster) me(ctx context.Context) frontend.Member {
	viewed := c.o.Viewed()
	m := frontend.Member{Name: c.o.Name, URL: c.o.URL(), Version: c.o.Version, Viewed: viewed, Turn: c.o.Front == nil || c.o.Front.HasTurn(), Drained: c.o.Gate.Drained()}
	ctx, cancel := context.WithTimeout(ctx, frontend.Every)
	defer cancel()
	last, err := c.o.Ledger.Last(ctx)
	if trouble := c.o.Trouble(); trouble != nil {
		err = trouble
	} else if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("the record has not answered for %s", frontend.Every)
	}
	if err != nil {
		m.Trouble = err.Error()
	}
	m.Last, m.Behind = c.lag.at(time.Now(), last, viewed)
	return m
}

func (c *Cluster) engine() cluster.Engine {
	switch {
	case c.o.Front == nil:
		return cluster.Directory
	case c.o.Replicas == nil:
		return cluster.PostgreSQL
	case c.o.Replicas.Node() == "":
		return cluster.NATS
	}
	return cluster.Nodes
}

// Known implements [cluster.Servers].
func (c *Cluster) Known(ctx context.Context) cluster.Known {
	me := frontend.Seen{Member: c.me(ctx)}
	k := cluster.Known{Engine: c.engine(), Here: c.o.Name, Last: me.Last, Members: []frontend.Seen{me}}
	if c.o.Front != nil {
		k.Listens = c.o.Front.Listens()
		others := slices.DeleteFunc(c.o.Front.Members(), func(m frontend.Seen) bool { return m.Name == c.o.Name })
		k.Members = append(k.Members, others...)
		for _, m := range others {
			k.Last = max(k.Last, m.Last)
		}
	}
	var err error
	if c.o.Replicas != nil {
		ctx, cancel := context.WithTimeout(ctx, asks)
		defer cancel()
		k.Groups, err = c.o.Replicas.Groups(ctx)
	} else if err = c.o.Ledger.Err(); err == nil && me.Trouble != "" {
		err = errors.New(me.Trouble)
	}
	if err != nil {
		k.Trouble = err.Error()
	}
	return k
}

// Drain implements [cluster.Servers].
func (c *Cluster) Drain(ctx context.Context, name string, on bool) error {
	if c.o.Front == nil {
		return alone()
	}
	return c.o.Front.Others().Drain(ctx, name, on)
}

// Forget implements [cluster.Servers].
func (c *Cluster) Forget(ctx context.Context, name string) error {
	if c.o.Front == nil {
		return alone()
	}
	return c.o.Front.Others().Forget(ctx, name)
}

// Remove implements [cluster.Servers].
func (c *Cluster) Remove(ctx context.Context, name string) error {
	if c.o.Replicas == nil {
		return alone()
	}
	return c.o.Replicas.Remove(ctx, name)
}

func alone() error {
	return refusal.New(refusal.Conflict, "see docs/cluster.md for a record that several servers share", "the record of this server is in its data directory, and it is the only one")
}
