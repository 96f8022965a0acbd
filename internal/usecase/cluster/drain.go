package cluster

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/help"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Drain has a node take no new work: it is not ready any more, calls that wait there are answered, and others lead what it led. It goes on
// serving calls. It returns when the node says so. For administrators of the workspace default, as are [Cluster.Resume] and [Cluster.Remove].
func (cl *Cluster) Drain(ctx context.Context, c caller.Caller, name string) (Status, error) {
	return cl.drain(ctx, c, "drain-node", name, true)
}

func (cl *Cluster) drain(ctx context.Context, c caller.Caller, verb, name string, on bool) (Status, error) {
	if err := cl.may(ctx, c, identity.ManageWorkspaces, verb, name); err != nil {
		return Status{}, err
	}
	if err := drainable(statusOf(cl.servers.Known(ctx)), name, on); err != nil {
		return Status{}, err
	}
	if err := cl.order(ctx, c, verb, name); err != nil {
		return Status{}, err
	}
	asked := time.Now()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		if err := cl.servers.Drain(ctx, name, on); err != nil && ctx.Err() == nil {
			return Status{}, refusal.New(refusal.Unavailable, "repeat the call, or stop the node: that loses nothing that was acknowledged", "the node %s cannot be asked: %s", name, err)
		}
		s := statusOf(cl.servers.Known(ctx))
		n, err := s.find(name)
		if err != nil || (n.State == Drained) == on && time.Duration(n.Heard) < time.Since(asked) { // what was heard before may be of before
			return s, err
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return Status{}, refusal.New(refusal.Unavailable, "see [how the nodes are](cluster status), and repeat the call", "the node %s has not answered for %s", name, patience)
		}
	}
}

// drainable refuses to drain a node that is not there, or the last one that takes work.
func drainable(s Status, name string, on bool) error {
	n, err := s.find(name)
	switch {
	case err != nil:
		return err
	case n.State == Silent || n.State == Unknown:
		return refusal.New(refusal.Conflict, n.Stop.Do+help.To("", "cluster remove", name), "the node %s is not heard of", name)
	case on && n.State != Drained && len(s.names(func(o Node) bool { return o.Name != name && o.State == Ready })) == 0:
		return refusal.New(refusal.Conflict, s.helpers(n), "no other node than %s takes work", name)
	}
	return nil
}
