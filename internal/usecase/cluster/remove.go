package cluster

import (
	"context"
	"fmt"
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/replica"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Remove removes a node that is gone for good. Its replicas are made again on other nodes. Refusals: conflict, if it is heard of, or too few nodes are left
// to have three replicas, or they have no majority.
func (cl *Cluster) Remove(ctx context.Context, c caller.Caller, name string) (Status, error) {
	if err := cl.may(ctx, c, identity.ManageWorkspaces, "remove-node", name); err != nil {
		return Status{}, err
	}
	k := cl.servers.Known(ctx)
	s := statusOf(k)
	n, err := s.find(name)
	if err != nil {
		return Status{}, err
	}
	if n.State == Unknown {
		return Status{}, refusal.New(refusal.Conflict, k.askAgain(), "whether the node %s runs is not known: %s", name, k.deaf())
	}
	if n.State != Silent {
		return Status{}, refusal.New(refusal.Conflict, fmt.Sprintf("drain it, stop it, wait %s, and repeat the call", Silence), "the node %s runs, and only one that is gone is removed", name)
	}
	replicas := k.Engine == Nodes
	if replicas {
		replicas, err = s.mayLose(k, name)
	}
	if err == nil {
		err = cl.order(ctx, c, "remove-node", name)
	}
	if err == nil && replicas {
		err = cl.servers.Remove(ctx, name)
	}
	if err == nil {
		err = cl.servers.Forget(ctx, name)
	}
	if err != nil {
		return Status{}, err
	}
	s = statusOf(cl.servers.Known(ctx))
	s.Nodes = slices.DeleteFunc(s.Nodes, func(n Node) bool { return n.Name == name }) // the others may hear of it a moment later
	return s, nil
}

// mayLose refuses to remove the replicas of a node, if not enough are left. It reports whether the node has any.
func (s Status) mayLose(k Known, name string) (has bool, err error) {
	if k.Trouble != "" || len(k.Groups) == 0 {
		return false, refusal.New(refusal.Unavailable, s.leaders(Node{}), "where the replicas are is not known: %s", k.Trouble)
	}
	if !slices.ContainsFunc(k.Groups, func(g replica.Group) bool { return g.Has(name) }) {
		return false, nil
	}
	all := k.Groups[0] // that of all nodes
	for _, g := range k.Groups {
		if g.Without(name) < g.Majority() {
			return true, refusal.New(refusal.Conflict, s.helpers(Node{Name: name}), "of the replicas of %s %d of %d are there, and %d are needed", g.Name, g.Without(name), len(g.Peers), g.Majority())
		}
	}
	if left := all.Without(name); left < replica.Fewest {
		return true, refusal.New(refusal.Conflict, "[start another node](cluster add) first", "without %s only %d nodes would be there, and the record has %d replicas", name, left, replica.Fewest)
	}
	return true, nil
}
